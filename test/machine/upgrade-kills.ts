import { text } from '../client.ts';
import { type DatabaseKind, packageSteps, type StepOptions } from './package-steps.ts';
import type { Report } from './report.ts';
import { ScenarioEnded } from './scenario.ts';
import type { TestPackages } from './test-packages.ts';

export interface KillOptions extends StepOptions {
  report: Report;
  packages: TestPackages;
  database: DatabaseKind;
}

/**
 * The victim of a kill: the command with everything that it started, the command alone, whose dpkg goes on, or the machine, without the loss of
 * what its kernel had not written.
 */
type Victim = 'all' | 'command' | 'machine';

/** Words of the output, after which the kill comes. */
type Kill = [after: string, victim: Victim];

const FORWARD: Kill[] = [
  ['Backing up the platform', 'all'],
  ['Keeping Homeport', 'all'],
  ['Unpacking homeport', 'machine'],
  ['Setting up homeport', 'all'],
  ['Waiting until Homeport', 'command'],
];
const BACK: Kill[] = [
  ['did not become ready', 'all'],
  ['Unpacking homeport', 'machine'],
  ['Setting up homeport', 'command'],
];

const OUTPUT = '/root/upgrade.log';
/** How long `homeport upgrade` waits for a version, in seconds. */
const WAIT = 60;
const RETURNED = 3;
/** The command itself may be damaged: docs/install.md. */
const COMMAND =
  'if homeport --version > /dev/null 2>&1; then c=homeport; else c=/var/lib/homeport-upgrade/former/usr/lib/homeport/homeport; fi';

/**
 * Kills an upgrade, and a return from a broken version, at each step, and runs the command again each time. In the end, one version is whole
 * and has every row. The last upgrade finds the control plane stopped behind its socket: only a copy of the database lets it return.
 */
export async function runKillScenario(options: KillOptions): Promise<void> {
  const { machine, guest, report, packages, database } = options;
  const steps = packageSteps(options);
  const { run } = steps;

  async function required(name: string, work: () => Promise<void>): Promise<void> {
    if (!(await report.check(name, work))) throw new ScenarioEnded(name);
  }

  let begun = 0;
  /** Another unit for each run, because what a kill has left stays in the former one. */
  const unit = () => `test-upgrade-${begun}`;

  /** Begins the upgrade beside this connection. Its output and its exit code are in a file. */
  async function begin(file: string): Promise<void> {
    const line = `${COMMAND}; $c upgrade --yes --wait ${WAIT} ${file}; echo status $?`;
    begun++;
    await run(`rm -f ${OUTPUT}`);
    const options = `--unit=${unit()} --collect --property=KillMode=process`;
    const output = ['Output', 'Error'].map((one) => `--property=Standard${one}=append:${OUTPUT}`).join(' ');
    await run(`systemd-run --quiet ${options} ${output} /bin/sh -c '${line}'`);
  }

  const output = () => run(`cat ${OUTPUT}`);

  async function untilSaid(words: string): Promise<void> {
    await run(`until grep -qs -e '${words}' -e '^status ' ${OUTPUT}; do sleep 0.02; done`);
    const said = await output();
    if (!said.includes(words)) throw new Error(`it never said "${words}": ${said.slice(-3_000)}`);
  }

  async function kill(victim: Victim): Promise<void> {
    if (victim === 'machine') return machine.reboot();
    // The shell must not go on with its next command.
    if (victim === 'all') await run(`systemctl kill --signal=KILL ${unit()}`);
    // The brackets keep the pattern from naming its own shell.
    else
      await run(
        `systemctl kill --signal=KILL --kill-whom=main ${unit()}; pkill -KILL -f '[h]omeport.mjs upgrade'`,
      );
    await run(`while systemctl --quiet is-active ${unit()}; do sleep 0.1; done`);
  }

  async function killAtEach(kills: readonly Kill[], file: string): Promise<void> {
    for (const [after, victim] of kills) {
      await required(`a kill of ${victim} after "${after}"`, async () => {
        await begin(file);
        await untilSaid(after);
        await kill(victim);
      });
    }
  }

  /** Runs the upgrade to its end. */
  async function finish(file: string, status: number): Promise<void> {
    await begin(file);
    await ended(status);
  }

  async function ended(status: number): Promise<void> {
    await untilSaid('status ');
    const said = await output();
    if (!said.includes(`status ${status}\n`)) throw new Error(said.slice(-4_000));
    await run('test ! -e /var/lib/homeport-upgrade');
  }

  const rows: string[] = [];
  async function expectRows(domain: string): Promise<void> {
    await steps.untilReady();
    for (const id of rows) await guest.api('GET', `/sites/${id}`);
    await run(
      `curl -sSf --max-time 120 --resolve ${domain}:80:127.0.0.1 http://${domain}/ | grep -q -e '</html>'`,
    );
  }
  async function writeRow(name: string): Promise<void> {
    rows.push(text(await guest.api('POST', '/sites', { name, account_id: guest.accountId() }), 'id'));
  }

  await required('boots', () => machine.boot());
  await run('apt-get update');
  await steps.download(packages.first);
  let domain = '';
  await required(`a website runs, with ${database}`, async () => {
    await steps.follow(['sudo apt-get install --yes ./homeport_*_amd64.deb']);
    await steps.setUpEmbedded(database);
    domain = await steps.createWebsite();
    await writeRow('Before the upgrade');
  });
  await machine.give(packages.newer, 'root/newer.deb');
  await killAtEach(FORWARD, '/root/newer.deb');
  await required('the upgrade is complete afterwards', async () => {
    await finish('/root/newer.deb', 0);
    await steps.expectVersion(packages.newer);
    await steps.expectLogged('9001-first-of-test');
    await expectRows(domain);
  });
  await writeRow('Before the return');
  await machine.give(packages.broken, 'root/broken.deb');
  await killAtEach(BACK, '/root/broken.deb');
  await report.check('the return is complete afterwards', async () => {
    await finish('/root/broken.deb', RETURNED);
    await steps.expectVersion(packages.newer);
    await steps.expectLogged('the database is that from before the failed upgrade');
    await expectRows(domain);
  });
  await report.check(
    'the next upgrade returns, although a connection starts the stopped service',
    async () => {
      await run('systemctl stop homeport.service');
      await begin('/root/broken.deb');
      await untilSaid('Unpacking homeport');
      await run('systemd-run --quiet --collect curl -sk --max-time 300 https://localhost:8443/readyz');
      await ended(RETURNED);
      await steps.expectVersion(packages.newer);
      await expectRows(domain);
    },
  );
}
