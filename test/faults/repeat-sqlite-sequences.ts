// Repeats both sequences of sqlite-sequences.ts, and prints how many acknowledged writes were lost and how many files are
// damaged. Exits with 1 after any loss.
//
//   node test/faults/repeat-sqlite-sequences.ts [times]      20 times if left out
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { backupThenCommand, backupThenKill, sqliteHomeport, WRITES } from './sqlite-sequences.ts';

const times = Number(process.argv[2] ?? 20);

for (const [name, sequence] of [
  ['backup, writes, kill -9', backupThenKill],
  ['backup, command, writes, SIGTERM', backupThenCommand],
] as const) {
  let lost = 0;
  let damaged = 0;
  for (let round = 0; round < times; round++) {
    const folder = mkdtempSync(join(tmpdir(), 'homeport-sequence-'));
    try {
      const outcome = await sequence(await sqliteHomeport(folder));
      lost += outcome.lost;
      if (outcome.integrity !== 'ok') damaged += 1;
    } catch (error) {
      damaged += 1;
      process.stderr.write(`${String(error)}\n`);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  }
  process.stdout.write(
    `${name}: ${times} times, ${lost} of ${times * WRITES} writes lost, ${damaged} files damaged\n`,
  );
  if (lost + damaged > 0) process.exitCode = 1;
}
