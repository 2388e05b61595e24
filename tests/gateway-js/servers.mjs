// The simulators and a gateway before them, each a process of its own on a free port of the loopback.

import { spawn } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const START_MS = 20_000;

const PROVIDERS = {
  chat: ['openai-chat', '/openai/v1'],
  responses: ['openai-responses', '/openai/v1'],
  anthropic: ['anthropic-messages', '/anthropic'],
  gemini: ['gemini', '/gemini'],
};

/** Starts a command of the binary and waits for the line that names its address. */
function start(binary, args) {
  const process = spawn(binary, args, { stdio: ['ignore', 'pipe', 'ignore'] });
  const base = new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error(`${args[0]} does not listen`)), START_MS);
    let printed = '';
    process.stdout.on('data', (data) => {
      printed += data;
      const found = printed.match(/http:\/\/127\.0\.0\.1:\d+(?=\s)/);
      if (found) {
        clearTimeout(timer);
        resolve(found[0]);
      }
    });
    process.on('error', reject);
    process.on('exit', (code) => reject(new Error(`${args[0]} ended with ${code}`)));
  });
  return { process, base };
}

/** Runs `body` with the addresses of a gateway and of the simulators behind it. */
export async function withServers(binary, body) {
  const folder = await mkdtemp(join(tmpdir(), 'sabir-js-'));
  const started = [];
  try {
    const simulators = start(binary, ['sim', '--listen', '127.0.0.1:0']);
    started.push(simulators.process);
    const upstream = await simulators.base;
    const config = join(folder, 'sabir.toml');
    await writeFile(config, configured(upstream));
    const gateway = start(binary, ['serve', '--config', config, '--listen', '127.0.0.1:0', '--data', folder]);
    started.push(gateway.process);
    return await body(await gateway.base, upstream);
  } finally {
    await Promise.all(started.map(end));
    await rm(folder, { recursive: true });
  }
}

function configured(upstream) {
  const providers = Object.entries(PROVIDERS).map(
    ([name, [protocol, root]]) =>
      `[[provider]]\nname = "${name}"\nprotocol = "${protocol}"\nbase_url = "${upstream}${root}"\n` +
      'api_key = { value = "only-for-tests" }\n',
  );
  return `env_providers = false\n[log]\nlevel = "warn"\n${providers.join('')}${mixed(upstream)}${summing()}${governed()}`;
}

/** A provider that speaks Chat and Gemini: Chat's clients meet their own protocol, all others a foreign one. */
function mixed(upstream) {
  const spoken = [PROVIDERS.gemini, PROVIDERS.chat];
  const protocols = spoken.map(([protocol]) => `"${protocol}"`).join(', ');
  const urls = spoken.map(([protocol, root]) => `${protocol} = "${upstream}${root}"`).join(', ');
  return `[[provider]]\nname = "mixed"\nprotocol = [${protocols}]\nbase_url = { ${urls} }\napi_key = { value = "only-for-tests" }\n`;
}

/** A model for each provider with two targets: then the gateway writes summaries itself, whoever is behind it. */
function summing() {
  const target = (name, model) => `{ provider = "${name}", model = "${model}" }`;
  return Object.keys(PROVIDERS)
    .map((name) => `[[model]]\nname = "sum-${name}"\ntargets = [${target(name, 'summing')}, ${target(name, 'standing-in')}]\n`)
    .join('');
}

/** For each provider a model with rules on tools that is asked first there and, once a tool has answered, at the next one. */
function governed() {
  const names = Object.keys(PROVIDERS);
  const target = (provider, model) => `[{ provider = "${provider}", model = "${model}" }]`;
  return names
    .map((first, number) => {
      const then = names[(number + 1) % names.length];
      return (
        `[[model]]\nname = "governed-${first}"\nstrategy = "class"\n` +
        'tools = { deny = ["rem*"], rename = { weather = "forecast" }, arguments = "repair", undeclared = "refuse" }\n' +
        `[model.classes]\ndefault = ${target(first, `governed-default-${first}`)}\n` +
        `thinking = ${target(first, `governed-first-${first}`)}\ntools = ${target(then, `governed-then-${first}`)}\n`
      );
    })
    .join('');
}

function end(process) {
  if (process.exitCode !== null || process.signalCode !== null) return undefined;
  const ended = new Promise((resolve) => process.once('exit', resolve));
  process.kill('SIGTERM');
  return ended;
}
