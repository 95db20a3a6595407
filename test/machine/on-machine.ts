import { copyFile, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { messageOf } from '../../src/lib/error-message.ts';
import type { Machine } from './machine.ts';
import type { Report } from './report.ts';
import { ScenarioEnded } from './scenario.ts';

/** Takes a machine through a scenario, keeps its logs if a check failed, and ends it, also if this process is ended. */
export async function onMachine(
  machine: Machine,
  { name, folder, report }: { name: string; folder: string; report: Report },
  scenario: () => Promise<void>,
): Promise<void> {
  const stop = endOnSignal(machine);
  const before = report.counts().failed;
  try {
    await scenario();
  } catch (error) {
    if (!(error instanceof ScenarioEnded)) throw error;
    report.step(`the checks after "${error.message}" were not run`);
  } finally {
    if (report.counts().failed > before) await keepEvidence(machine, name, folder);
    await machine.end();
    stop();
  }
}

/** The machine would outlive this process. */
function endOnSignal(machine: Machine): () => void {
  const end = () => void machine.end().then(() => process.exit(130));
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
  for (const signal of signals) process.once(signal, end);
  return () => {
    for (const signal of signals) process.off(signal, end);
  };
}

async function keepEvidence(machine: Machine, name: string, folder: string): Promise<void> {
  const time = new Date().toISOString().replaceAll(':', '-');
  const evidence = join(folder, 'failures', `${name}-${time}`);
  await mkdir(evidence, { recursive: true });
  await copyFile(machine.console, join(evidence, 'console.log')).catch(() => {});
  const commands = {
    'journal.log': 'journalctl --no-pager',
    'units.log': 'systemctl --no-pager status --full',
  };
  for (const [file, line] of Object.entries(commands)) {
    const text = await machine.run('root', `${line} || true`).catch((error: unknown) => messageOf(error));
    await writeFile(join(evidence, file), text);
  }
  process.stdout.write(`Console and journal: ${evidence}\n`);
}
