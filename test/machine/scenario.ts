import { type Guest, until } from './guest.ts';
import type { Machine } from './machine.ts';
import { PROGRAM } from './machine-image.ts';
import type { Report } from './report.ts';

export interface ScenarioOptions {
  machine: Machine;
  guest: Guest;
  report: Report;
  /** How long something may take that is done in seconds on a machine that is not emulated, in milliseconds. */
  patienceMs: number;
  /** The same for set-up and the first start, which download and compile. */
  setupMs: number;
}

/** A failed check that the ones after it cannot do without. */
export class ScenarioEnded extends Error {}

const SERVICES = ['homeport-host.service', 'homeport.service'];
const LARGE_BYTES = 64 * 1024 ** 2;
const MARKER = 'machine-test.txt';

/**
 * Takes a machine through set-up, websites, a backup, a restart, power cuts at the worst moments, and a restore. Throws ScenarioEnded if
 * the remaining checks make no sense.
 */
export async function runScenario(options: ScenarioOptions): Promise<void> {
  const { machine, guest, report, patienceMs, setupMs } = options;
  const installs = new Map<string, string>();

  async function required(name: string, work: () => Promise<void>): Promise<void> {
    if (!(await report.check(name, work))) throw new ScenarioEnded(name);
  }

  async function untilActive(name: string): Promise<void> {
    const id = installs.get(name) ?? '';
    await until(`${name} is active`, patienceMs, async () => (await guest.installStatus(id)) === 'active');
  }

  async function untilServed(): Promise<void> {
    for (const name of installs.keys()) {
      await until(`${name} is served`, patienceMs, async () => /<html/i.test(await guest.page(name)));
    }
  }

  const checkUp = (when: string) =>
    required(`services and websites are up ${when}`, async () => {
      await until('the services are active', patienceMs, async () => {
        await machine.run('root', `systemctl is-active ${SERVICES.join(' ')}`);
        return true;
      });
      await until('the API answers', patienceMs, async () => {
        await guest.api('GET', '/user');
        return true;
      });
      await untilServed();
    });

  const checkDoctor = (when: string) =>
    report.check(`doctor finds nothing ${when}`, async () => {
      await guest.homeport('doctor', '--host');
    });

  await required('boots', () => machine.boot());
  await required('host:setup succeeds', async () => {
    const seconds = Math.floor(setupMs / 1000);
    const line = `cd ${PROGRAM} && sudo npm run --silent host:setup -- --wait ${seconds}`;
    await machine.run('admin', line, { timeoutMs: 3 * setupMs });
  });
  await report.check('host:setup changes nothing when run again', async () => {
    const before = await mainPids();
    await machine.run('admin', `cd ${PROGRAM} && sudo npm run --silent host:setup`, { timeoutMs: setupMs });
    const after = await mainPids();
    if (before !== after) throw new Error(`the services were restarted: ${before} became ${after}`);
  });
  await required('credentials let the API in', () => guest.signIn());

  for (const name of ['firstsite', 'secondsite']) {
    await required(`${name} is installed and served`, async () => {
      installs.set(name, await guest.createInstall(name));
      await untilActive(name);
      await untilServed();
    });
  }
  const firstId = installs.get('firstsite') ?? '';
  await report.check('a website listens on no port', async () => {
    const code = `<?php echo @stream_socket_server('tcp://0.0.0.0:9999') ? 'listens' : error_get_last()['message'];`;
    await writePublic('firstsite', 'listen.php', code);
    const answer = await guest.page('firstsite', '/listen.php');
    if (!answer.includes('Operation not permitted')) throw new Error(`PHP says ${answer}`);
  });

  await writePublic('firstsite', MARKER, 'before the backup');
  let backupId = '';
  await required('a backup is completed', async () => {
    backupId = await guest.createBackup(firstId);
    await untilBackedUp(backupId);
  });
  await checkDoctor('after the backup');

  await required('restarts', () => machine.reboot());
  await checkUp('after a restart');
  await checkDoctor('after a restart');

  await required('the power fails while a website is created, and it comes back', async () => {
    installs.set('thirdsite', await guest.createInstall('thirdsite'));
    await until('the host works on it', patienceMs, async () => {
      const journals = await machine.run('root', 'ls /var/lib/homeport-host/journals');
      return journals.includes(installs.get('thirdsite') ?? '');
    });
    await machine.cutPower();
    await machine.boot();
  });
  await checkUp('after that');
  await report.check('the website is created all the same', () => untilActive('thirdsite'));
  await checkDoctor('after that');

  let cutId = '';
  await required('the power fails during a backup, and it comes back', async () => {
    // A large file keeps the backup running until it is seen.
    const file = `/var/lib/homeport-host/installs/${firstId}/private/large`;
    await machine.run('root', `head -c ${LARGE_BYTES} /dev/urandom > ${file} && chown firstsite: ${file}`);
    cutId = await guest.createBackup(firstId);
    await until('the backup is made', patienceMs, async () => {
      await machine.run('root', 'pgrep -x restic');
      return true;
    });
    await machine.cutPower();
    await machine.boot();
  });
  await checkUp('after the interrupted backup');
  await report.check('the backup is completed all the same', () => untilBackedUp(cutId));

  await writePublic('firstsite', MARKER, 'after the backup');
  await report.check('a restore brings back what the first backup has', async () => {
    await guest.homeport('backup', 'restore', backupId, '--yes');
    const found = await guest.page('firstsite', `/${MARKER}`);
    if (found !== 'before the backup') throw new Error(`the website has "${found}"`);
  });
  await checkUp('after the restore');
  await checkDoctor('in the end');

  async function untilBackedUp(id: string): Promise<void> {
    await until('the backup is completed', patienceMs, async () => {
      const status = await guest.backupStatus(firstId, id);
      if (status === 'aborted') throw new Error('the backup was aborted');
      return status === 'completed';
    });
  }

  /** As the website's user, like an upload. */
  async function writePublic(install: string, file: string, content: string): Promise<void> {
    const path = `/var/lib/homeport-host/installs/${installs.get(install) ?? ''}/htdocs/${file}`;
    await machine.run('root', `cat > ${path} && chown ${install}: ${path}`, { input: content });
  }

  async function mainPids(): Promise<string> {
    const shown = await machine.run(
      'root',
      `systemctl show --property=MainPID --value ${SERVICES.join(' ')}`,
    );
    return shown.trim().split(/\s+/).join(' ');
  }
}
