import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { hasChromium } from './chromium.ts';
import { findPostgres } from './servers/postgres-server.ts';

/** Programs that some tests need, with their Debian packages. */
const NEEDS = [
  { tests: 'Every test on PostgreSQL', packages: 'postgresql', isThere: () => findPostgres() !== undefined },
  {
    tests: 'Every test of the portal in a browser',
    packages: 'chromium-headless-shell',
    isThere: () => hasChromium,
  },
  { tests: 'DNS and reachability', packages: 'knot unbound', isThere: () => has('knotd', 'unbound') },
  {
    tests: 'Ordering certificates',
    packages: 'knot unbound pebble',
    isThere: () => has('knotd', 'unbound', 'pebble', 'pebble-challtestsrv'),
  },
  {
    tests: 'OpenSSH clients against ours, its keys, and signatures of releases',
    packages: 'openssh-client',
    isThere: () => has('sftp', 'ssh-keygen'),
  },
  { tests: 'The first start on a terminal', packages: 'bsdutils', isThere: () => has('script') },
  { tests: 'Releases from a repository', packages: 'git', isThere: () => has('git') },
  { tests: 'Installing a release, and examples in curl', packages: 'curl', isThere: () => has('curl') },
  { tests: 'Rules of alerts with promtool', packages: 'prometheus', isThere: () => has('promtool') },
  {
    tests: 'The loss of a machine with a replicated database',
    packages: 'postgresql patroni etcd-server haproxy',
    isThere: () => has('patroni', 'etcd', 'haproxy'),
  },
  { tests: 'Reading compressed logs with zstd', packages: 'zstd', isThere: () => has('zstd') },
  { tests: 'Zip archives that are too large', packages: 'zip unzip', isThere: () => has('zip', 'unzip') },
  {
    tests: 'Clients and examples in Python and PHP, and the errors that PHP writes',
    packages: 'python3 php-cli php-curl',
    isThere: () => has('python3', 'php'),
  },
];

/** One line for each group of tests that this machine skips, with the packages that would let it run. */
export function skippedTests(): string[] {
  const lines = NEEDS.filter(({ isThere }) => !isThere()).map(
    ({ tests, packages }) => `SKIPPED: ${tests}. To run them: apt-get install ${packages}`,
  );
  if (process.getuid?.() === 0) {
    lines.push('SKIPPED: Tests of files without read or write permission, because root ignores it.');
  }
  return lines;
}

export function has(...programs: string[]): boolean {
  const folders = [...(process.env.PATH ?? '').split(':'), '/usr/sbin'];
  return programs.every((program) => folders.some((folder) => existsSync(join(folder, program))));
}
