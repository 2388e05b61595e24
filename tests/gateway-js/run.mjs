// Every official JavaScript client on one foreign upstream, whole and streamed: text, a round of tools, the same under rules at
// targets by class, an error.
// Usage: node run.mjs BINARY NODE_MODULES

import assert from 'node:assert/strict';

import { attempt } from './attempt.mjs';
import { clients } from './clients.mjs';
import { withServers } from './servers.mjs';

const DICTATED = 'call weather with {"city": "Oslo"}';

/** The requests that the simulators received for a model. */
async function arrived(upstream, model) {
  const requests = await (await fetch(`${upstream}/_sim/requests`)).json();
  return requests.filter((it) => it.body.model === model || it.path.includes(`/${model}:`));
}

async function text(client, model, streamed) {
  const answer = await client.ask(`${client.upstream}/${model}`, [client.user('hello there')], streamed);
  assert.match(answer.text, /You said: "hello there"/);
  assert.deepEqual(answer.calls, []);
}

async function tools(client, model, streamed) {
  const name = `${client.upstream}/${model}`;
  const said = client.user(DICTATED);
  const first = await client.ask(name, [said], streamed);
  assert.deepEqual(first.calls.map((it) => [it.name, it.arguments]), [['weather', { city: 'Oslo' }]]);
  const turns = [said, ...first.turn, ...client.answerCall(first.calls[0], '12 degrees')];
  const second = await client.ask(name, turns, streamed);
  assert.match(second.text, /The tools said: "12 degrees"/);
}

async function governed(client, _, streamed, upstream) {
  const name = `governed-${client.upstream}`;
  const said = client.user('call forecast with {"city": "Oslo"}');
  const first = await client.ask(name, [said], streamed);
  assert.deepEqual(first.calls.map((it) => [it.name, it.arguments]), [['weather', { city: 'Oslo' }]]);
  const turns = [said, ...first.turn, ...client.answerCall(first.calls[0], '12 degrees')];
  const second = await client.ask(name, turns, streamed);
  assert.match(second.text, /The tools said: "12 degrees"/);
  for (const role of ['first', 'then']) {
    const seen = await arrived(upstream, `governed-${role}-${client.upstream}`);
    assert.ok(seen.length > 0, `requests upstream of the class for ${role}`);
    for (const { valid, body } of seen) {
      const names = ['forecast', 'weather', 'remove'].map((it) => JSON.stringify(body).includes(`"${it}"`));
      assert.deepEqual([valid, ...names], [true, true, false, false], `what arrived of the class for ${role}`);
    }
  }
}

async function error(client, model, streamed) {
  const failure = await client.ask(`${client.upstream}/${model}-fault-429-30`, [client.user('hello')], streamed).then(
    () => assert.fail('no error'),
    (raised) => raised,
  );
  assert.ok(failure instanceof client.rateLimit, `${failure}`);
  assert.equal(failure.status, 429);
  assert.match(failure.message, /rate limit/);
}

const SCENARIOS = [
  [text, 1, ''],
  [tools, 2, ''],
  [governed, 0, ''],
  [error, 1, '-fault-429-30'],
];

async function main(binary, modules) {
  const results = await withServers(binary, async (gateway, upstream) => {
    const found = [];
    for (const client of clients(modules, gateway)) {
      for (const [scenario, requests, fault] of SCENARIOS) {
        for (const streamed of [false, true]) {
          const way = streamed ? 'streamed' : 'whole';
          const model = `${scenario.name}-${client.name}-${way}`;
          const title = `${scenario.name}: ${client.name} on ${client.upstream}, ${way}`;
          const run = async () => {
            await scenario(client, model, streamed, upstream);
            const seen = await arrived(upstream, model + fault);
            assert.deepEqual(seen.map((it) => it.valid), Array(requests).fill(true), 'requests upstream');
          };
          found.push(await attempt(title, run));
        }
      }
    }
    return found;
  });
  const passed = results.filter(Boolean).length;
  console.log(`JavaScript clients: ${passed} passed, ${results.length - passed} failed`);
  return passed === results.length ? 0 : 1;
}

// Idle connections of the SDKs would keep the process alive.
process.exit(await main(process.argv[2], process.argv[3]));
