// Loops of tools that keep their conversation on the server unless they are asked not to, on every upstream: the Vercel AI
// SDK, which names earlier items by their ids from the second step on, and Anthropic's tool runner, which opens a thread.
// Usage: node memory.mjs BINARY NODE_MODULES

import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { join } from 'node:path';

import { attempt } from './attempt.mjs';
import { withServers } from './servers.mjs';

const UPSTREAMS = ['chat', 'responses', 'anthropic', 'gemini'];
const ROUNDS = 'I am Ada\ncall weather with {"city": "Rome"}\nthen call clock with {"zone": "CET"}';

/** Fetches as the SDKs would, and keeps what they sent. */
function noting(sent) {
  return (url, options) => {
    sent.push(JSON.parse(options.body));
    return fetch(url, options);
  };
}

function aiSdk(modules, base) {
  const require = createRequire(join(modules, 'any.js'));
  const { generateText, stepCountIs, streamText, tool } = require('ai');
  const { createOpenAI } = require('@ai-sdk/openai');
  const { z } = require('zod');
  const tools = {
    weather: tool({
      description: 'The weather in a city.',
      inputSchema: z.object({ city: z.string() }),
      execute: async ({ city }) => `sunny in ${city}`,
    }),
    clock: tool({
      description: 'The time in a zone.',
      inputSchema: z.object({ zone: z.string() }),
      execute: async ({ zone }) => `five in ${zone}`,
    }),
  };
  return async function aiSdkLoop(model, streamed) {
    const sent = [];
    const openai = createOpenAI({ apiKey: 'none', baseURL: `${base}/v1`, fetch: noting(sent) });
    const ask = async (messages) => {
      const asked = { model: openai(model), system: 'Be brief.', messages, tools, stopWhen: stepCountIs(5), maxRetries: 0 };
      if (!streamed) return generateText(asked);
      const result = streamText({ ...asked, onError: ({ error }) => { throw error; } });
      return { text: await result.text, steps: await result.steps, response: await result.response };
    };
    const messages = [{ role: 'user', content: ROUNDS }];
    const first = await ask(messages);
    assert.equal(first.steps.length, 3);
    assert.match(first.text, /The tools said: .*five in CET/);
    const second = await ask([...messages, ...first.response.messages, { role: 'user', content: 'who am I?' }]);
    assert.match(second.text, /You said: "who am I\?"/);
    // Its answer of the first run goes by its id.
    const named = sent.at(-1).input.filter((item) => item.type === 'item_reference');
    assert.equal(named.length > 0, true, 'the SDK refers to earlier items');
    return { answer: first.text, requests: 4, users: [ROUNDS, 'who am I?'] };
  };
}

function toolRunner(modules, base) {
  const require = createRequire(join(modules, 'any.js'));
  const Anthropic = require('@anthropic-ai/sdk');
  const { betaTool } = require('@anthropic-ai/sdk/helpers/beta/json-schema');
  const schema = (name) => ({ type: 'object', properties: { [name]: { type: 'string' } }, required: [name] });
  const tools = [
    betaTool({ name: 'weather', description: 'The weather in a city.', inputSchema: schema('city'), run: ({ city }) => `sunny in ${city}` }),
    betaTool({ name: 'clock', description: 'The time in a zone.', inputSchema: schema('zone'), run: ({ zone }) => `five in ${zone}` }),
  ];
  return async function toolRunnerLoop(model, streamed) {
    const sent = [];
    const client = new Anthropic({ apiKey: 'none', baseURL: base, maxRetries: 0, fetch: noting(sent) });
    const messages = [{ role: 'user', content: ROUNDS }];
    const runner = client.beta.messages.toolRunner({ model, max_tokens: 1000, system: 'Be brief.', messages, tools, stream: streamed });
    const last = await runner.runUntilDone();
    const text = last.content.map((block) => block.text ?? '').join('');
    assert.match(text, /The tools said: .*five in CET/);
    assert.deepEqual(sent.map((it) => it.thread?.type), ['create', 'continue', 'continue']);
    return { answer: '', requests: 3, users: [ROUNDS] };
  };
}

/** The last request of a model holds everything that was said, unless its provider has it. */
async function complete(upstream, model, { answer, requests, users }) {
  const found = await (await fetch(`${upstream}/_sim/requests?holds=${model}`)).json();
  const seen = found.filter((it) => it.body.model === model || it.path.includes(`/${model}:`));
  assert.deepEqual(seen.map((it) => it.valid), Array(requests).fill(true), 'requests upstream');
  const last = JSON.stringify(seen.at(-1).body);
  const facts = [...users, 'sunny in Rome', 'five in CET', 'Be brief.', answer];
  for (const fact of facts) assert.ok(last.includes(JSON.stringify(fact).slice(1, -1)), `${fact} is not in ${last}`);
}

async function main(binary, modules) {
  const results = await withServers(binary, async (gateway, upstream) => {
    const found = [];
    for (const loop of [aiSdk(modules, gateway), toolRunner(modules, gateway)]) {
      for (const provider of UPSTREAMS) {
        for (const streamed of [false, true]) {
          const way = streamed ? 'streamed' : 'whole';
          const model = `${loop.name}-${provider}-${way}`;
          const run = async () => complete(upstream, model, await loop(`${provider}/${model}`, streamed));
          found.push(await attempt(`${loop.name} on ${provider}, ${way}`, run));
        }
      }
    }
    return found;
  });
  const passed = results.filter(Boolean).length;
  console.log(`JavaScript memory: ${passed} passed, ${results.length - passed} failed`);
  return passed === results.length ? 0 : 1;
}

// Idle connections of the SDKs would keep the process alive.
process.exit(await main(process.argv[2], process.argv[3]));
