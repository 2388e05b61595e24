// Runs llmprobe's conformance suite on a gateway before a simulator: no MUST may fail but those that are known.
// Usage: node probe.mjs BINARY NODE_MODULES

import { spawn } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { withServers } from './servers.mjs';

const DEADLINE_MS = 240_000;

// The models to probe, with what fails today and why. A MUST that fails and is not here fails the run; so does one that
// is here and passes.
/** The simulators repeat what they are asked and remember nothing, so none of them can be asked for a name. */
const FORGETFUL = { 'responses-chain-remembers': 'needs a model that answers by what was said before' };

const MODELS = {
  'mixed/sim': FORGETFUL,
  'gemini/sim': FORGETFUL,
};

/** Runs llmprobe in a home of its own and reads the report that it saves. */
async function probe(modules, gateway, model) {
  const home = await mkdtemp(join(tmpdir(), 'sabir-probe-'));
  try {
    const report = join(home, 'report.json');
    const args = [gateway, '-m', model, '--no-save', '--no-bench', '--no-color', '--json', '--save', report];
    const program = join(modules, 'llmprobe/bin/dist/llmprobe.mjs');
    const run = spawn(process.execPath, [program, ...args], {
      env: { ...process.env, HOME: home },
      stdio: 'ignore',
      timeout: DEADLINE_MS,
    });
    await new Promise((resolve, reject) => run.once('exit', resolve).once('error', reject));
    return JSON.parse(await readFile(report, 'utf8'));
  } finally {
    await rm(home, { recursive: true });
  }
}

/** Says what failed and should not have, and what passed and was given up; the number of both. */
function judge(model, known, conformance) {
  const failures = conformance.results.flatMap((it) => it.failures).filter((it) => it.severity === 'MUST');
  const unknown = failures.filter((it) => !(it.id in known));
  const failed = new Set(failures.map((it) => it.id));
  const mended = Object.keys(known).filter((id) => !failed.has(id));
  for (const it of unknown) console.log(`FAILED ${model} ${it.id}: ${it.label}\n       ${it.message}`);
  for (const id of mended) console.log(`FAILED ${model} ${id} passes now: take it off the list of what is known to fail`);
  const { passed, total } = conformance;
  console.log(`llmprobe on ${model}: ${passed} of ${total} MUSTs passed, ${unknown.length} failed unexpectedly`);
  return unknown.length + mended.length + (total > 0 ? 0 : 1);
}

async function main(binary, modules) {
  return await withServers(binary, async (gateway) => {
    const models = Object.entries(MODELS);
    const reports = await Promise.all(models.map(([model]) => probe(modules, gateway, model)));
    const wrong = models.map(([model, known], index) => judge(model, known, reports[index].conformance));
    return wrong.some((count) => count > 0) ? 1 : 0;
  });
}

process.exit(await main(process.argv[2], process.argv[3]));
