// The `compactionTrigger` of the Vercel AI SDK, on every upstream: the conversation becomes one item, with which it goes on at
// any other. Usage: node compaction.mjs BINARY NODE_MODULES

import assert from 'node:assert/strict';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

import { attempt } from './attempt.mjs';
import { withServers } from './servers.mjs';

const UPSTREAMS = ['chat', 'responses', 'anthropic', 'gemini'];

const user = (text) => ({ role: 'user', content: [{ type: 'text', text }] });
const said = (text) => ({ role: 'assistant', content: [{ type: 'text', text }] });

/** All parts of an answer, whole or as they were streamed. */
async function parts(model, asked, streamed) {
  if (!streamed) return (await model.doGenerate(asked)).content;
  const { stream } = await model.doStream(asked);
  const found = [];
  for await (const part of stream) {
    assert.notEqual(part.type, 'error', `${part.error}`);
    found.push(part);
  }
  return found;
}

function text(found) {
  return found.map((part) => part.text ?? part.delta ?? '').join('');
}

async function compacted(openai, upstream, provider, streamed) {
  const trigger = { openai: { compactionTrigger: true, store: false } };
  const prompt = [user('my name is Ada'), said('Hello Ada.'), user('I like tea')];
  const made = await parts(openai.responses(`sum-${provider}`), { prompt, providerOptions: trigger }, streamed);
  const items = made.filter((part) => part.kind === 'openai.compaction');
  assert.equal(items.length, 1, JSON.stringify(made));
  const back = items.map(({ providerMetadata, ...part }) => ({ ...part, providerOptions: providerMetadata }));
  const asked = { prompt: [{ role: 'assistant', content: back }, user('who am I?')], providerOptions: { openai: { store: false } } };
  for (const other of UPSTREAMS) {
    const model = `compacted-${provider}-${other}-${streamed}`;
    assert.match(text(await parts(openai.responses(`${other}/${model}`), asked, streamed)), /You said: "who am I\?"/);
    const seen = await (await fetch(`${upstream}/_sim/requests?holds=${model}`)).json();
    assert.ok(JSON.stringify(seen.at(-1).body).includes('my name is Ada'), 'the conversation upstream');
  }
}

async function main(binary, modules) {
  const { createOpenAI } = await import(pathToFileURL(join(modules, 'ai-sdk-openai-4/dist/index.js')));
  const results = await withServers(binary, async (gateway, upstream) => {
    const openai = createOpenAI({ apiKey: 'none', baseURL: `${gateway}/v1` });
    const found = [];
    for (const provider of UPSTREAMS) {
      for (const streamed of [false, true]) {
        const title = `compactionTrigger on ${provider}, ${streamed ? 'streamed' : 'whole'}`;
        found.push(await attempt(title, () => compacted(openai, upstream, provider, streamed)));
      }
    }
    return found;
  });
  const passed = results.filter(Boolean).length;
  console.log(`JavaScript compaction: ${passed} passed, ${results.length - passed} failed`);
  return passed === results.length ? 0 : 1;
}

// Idle connections of the SDKs would keep the process alive.
process.exit(await main(process.argv[2], process.argv[3]));
