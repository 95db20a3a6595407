/**
 * `npm run bench` and `npm run bench:embedded`: the suites of the control plane and of the embedded host. `-- PART …` runs one part with its
 * arguments. Each part is a process, so that none measures what another left in memory. Exits with 1 if a part failed or missed a goal.
 */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';

/** The parts, which are files of this folder, in order. */
const SUITES: Record<string, readonly string[]> = {
  'control-plane': [
    'api',
    'single-reads',
    'memory',
    'lists',
    'queue',
    'claims',
    'pages',
    'postgres',
    'operation-waits',
    'webhooks',
    'uptime',
    'logs',
    'giant-backups',
    'domains',
    'fleet-checks',
    'watching',
    'streams',
    'handshakes',
    'silent-clients',
    'portal',
  ],
  embedded: ['embedded-wordpress', 'restart', 'static-files', 'edge-names', 'backups'],
};

const [suite = '', part, ...args] = process.argv.slice(2);
const parts = SUITES[suite] ?? [];
if (part !== undefined && !parts.includes(part)) {
  process.stderr.write(`Usage: [PART [OPTIONS]], with one of the parts ${parts.join(', ')}.\n`);
  process.exit(2);
}
for (const name of part === undefined ? parts : [part]) {
  const file = join(import.meta.dirname, `${name}.ts`);
  const { status } = spawnSync(process.execPath, [file, ...args], { stdio: 'inherit' });
  if (status !== 0) process.exitCode = 1;
}
