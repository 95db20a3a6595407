import { commandsIn, page, sectionOf } from '../docs/documented-commands.ts';
import { type Guest, until } from './guest.ts';
import type { PackageMachine } from './package-machine.ts';
import { versionOf } from './published-release.ts';

/** Where the platform of a machine stores its data. */
export const DATABASES = ['sqlite', 'postgres'] as const;
export type DatabaseKind = (typeof DATABASES)[number];

export interface StepOptions {
  machine: PackageMachine;
  guest: Guest;
  /** How long a command may take, in milliseconds. */
  patienceMs: number;
}

/** What scenarios of the package have in common. */
export interface PackageSteps {
  /** Runs a line as root. */
  run(line: string): Promise<string>;
  /** Runs blocks of a page as one script of a user with sudo, which ends at the first error. */
  follow(blocks: readonly string[]): Promise<string>;
  /** Puts a package into the home of the operator, in place of others. */
  download(file: string): Promise<void>;
  expectVersion(file: string): Promise<void>;
  /** Rejects unless the log of the control plane has these words. */
  expectLogged(words: string): Promise<void>;
  untilReady(): Promise<void>;
  /** Sets up the embedded host as its page says. */
  setUpEmbedded(database: DatabaseKind): Promise<void>;
  /** Creates a website of the embedded host, and signs in. Returns its domain. */
  createWebsite(): Promise<string>;
}

/** Gives commands of the platform a short name in the operator's shell. */
const SHORT_NAME = /^homeport\(\) \{.*\}$/m.exec(page('docs/tutorials/operator.md'))?.[0] ?? '';
const LAST_SETTING = 'HOMEPORT_EDGE_HTTPS=0.0.0.0:443';
const PASSWORD = 'ofthedatabase';
const DATABASE_URL = `HOMEPORT_DATABASE_URL=postgres://homeport:${PASSWORD}@127.0.0.1/homeport`;
/** As the operator does, but with a password that a script can type. Debian's cluster has the encoding of the small system. */
const POSTGRES = [
  'sudo apt-get install --yes --no-install-recommends postgresql',
  'cd /',
  `sudo -u postgres psql --quiet --command "create role homeport login password '${PASSWORD}'"`,
  'sudo -u postgres createdb --owner homeport --template template0 --encoding UTF8 --locale C.UTF-8 homeport',
];

export function packageSteps({ machine, guest, patienceMs }: StepOptions): PackageSteps {
  const run = (line: string) => machine.run('root', line, { timeoutMs: patienceMs });

  async function follow(blocks: readonly string[]): Promise<string> {
    const input = ['set -eo pipefail', SHORT_NAME, ...blocks].join('\n');
    // The script is no standard input of its commands.
    return machine.run('admin', 'cd && exec bash -c "$(cat)"', { input, timeoutMs: patienceMs });
  }

  const untilReady = () =>
    until('the API is ready', patienceMs, async () => {
      await run('curl -skf --max-time 60 https://localhost:8443/readyz');
      return true;
    });

  return {
    run,
    follow,
    untilReady,
    async download(file) {
      await run('rm -f /home/admin/homeport_*.deb');
      await machine.give(file, `home/admin/${file.split('/').at(-1)}`);
    },
    async expectVersion(file) {
      const installed = await run(`dpkg-query --show --showformat='\${Version}' homeport`);
      if (installed !== versionOf(file))
        throw new Error(`${installed} is installed, and not ${versionOf(file)}`);
      const unfinished = await run('dpkg --audit');
      if (unfinished !== '') throw new Error(`dpkg has not finished: ${unfinished}`);
    },
    async expectLogged(words) {
      await run(`journalctl --unit homeport --output cat | grep -e '${words}'`);
    },
    async setUpEmbedded(database) {
      if (database === 'postgres') await follow(POSTGRES);
      const blocks = commandsIn(sectionOf(page('docs/embedded-host.md'), 'As a service'));
      const settings = database === 'postgres' ? `${LAST_SETTING} ${DATABASE_URL}` : LAST_SETTING;
      await follow(blocks.map((block) => block.replace(LAST_SETTING, settings)));
      await untilReady();
    },
    async createWebsite() {
      await follow(['homeport install create shop', 'homeport install list']);
      await guest.signIn();
      return 'shop.localhost';
    },
  };
}
