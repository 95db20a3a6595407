import { randomBytes, randomUUID } from 'node:crypto';
import { chown, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createDatabases } from '../../src/hosting/linux/daemons/databases.ts';
import { createUnixUsers } from '../../src/hosting/linux/isolation/unix-users.ts';
import { runCommand } from '../../src/lib/run-command.ts';
import { plainState } from '../../test/host/state.ts';
import { progress, type Run } from '../measure/report.ts';
import { median, shownMs } from '../measure/units.ts';
import { type BenchHost, withBenchHost } from './bench-host.ts';
import { processorWithPrograms } from './footprint.ts';
import { postStatements, writeUploads } from './website-content.ts';

/** Goals are parts of a daily backup of the same website, when that has nothing new. */
const IDLE_GOAL = 0.02;
const BUSY_GOAL = 0.6;
const PASSWORD = randomBytes(32).toString('base64url');
/** What changed within two seconds before a point is copied again. */
const SETTLED_MS = 3_000;

/** Processor time and stored bytes of one round. */
interface Round {
  backup: number;
  whole: number;
  busy: number;
  idle: number;
  busyBytes: number;
}

/** The cost of recovery points of a large website, compared with its daily backup. */
export async function benchRecoveryPoints({ report, quick }: Run): Promise<void> {
  const count = quick ? 1 : 5;
  progress('starting a host');
  const rounds = await withBenchHost(async (host) => {
    host.remote.answer(
      { sshLogin: async () => null, sshRelay: async () => null, backupPassword: async () => PASSWORD },
      (error) => progress(`the reply to the host failed: ${String(error)}`),
    );
    return measure(host, count);
  });
  const of = (part: keyof Round) => median(rounds.map((round) => round[part]));
  report.part(
    `Recovery points of 3,200 files, 110 MB, and a database of 9 MB: processor time of the host, its programs and MariaDB; median of ${rounds.length}`,
  );
  const row = (what: string, own: number, goal?: number) =>
    report.figure({
      what,
      value: own / of('backup'),
      unit: 'ratio',
      measured: shownMs(own),
      beside: `daily backup without news: ${shownMs(of('backup'))}`,
      ...(goal === undefined ? {} : { goal: { atMost: goal } }),
    });
  row('a look at a website without changes', of('idle'), IDLE_GOAL);
  row('a point with a new post and a new picture', of('busy'), BUSY_GOAL);
  row('the first point of a day', of('whole'));
  report.figure({
    what: 'stored by a point with a picture of 100 kB',
    value: of('busyBytes') / 1000,
    unit: 'kB',
  });
  report.end();
}

async function measure({ machine, layout, remote, pid }: BenchHost, count: number): Promise<Round[]> {
  const install = plainState('bench-points');
  await remote.apply(install);
  const user = await createUnixUsers({ instance: machine.instance, uids: machine.config.hostUids }).find(
    install.id,
  );
  if (user === null) throw new Error('the install has no Unix user');
  const { uid } = user;
  const databases = createDatabases({ layout });
  const database = `hp_${install.id.replaceAll('-', '')}`;
  await writeUploads(layout.htdocsOf(install.id), uid, 'points');
  await databases.query(database, postStatements('points'));
  await remote.snapshot(install, randomUUID());

  const cost = async (work: () => Promise<unknown>) => {
    const before = await processorWithPrograms(machine, pid);
    await work();
    return (await processorWithPrograms(machine, pid)) - before;
  };
  const stored = async () =>
    Number(
      (await runCommand('/usr/bin/du', ['-sb', join(layout.backups, install.id)])).stdout.split('\t')[0],
    );
  const rounds: Round[] = [];
  for (let n = 1; n <= count; n++) {
    progress(`round ${n} of ${count}`);
    const backup = await cost(() => remote.snapshot(install, randomUUID()));
    await sleep(SETTLED_MS);
    const base = randomUUID();
    const whole = await cost(() => remote.recordPoint(install, { pointId: base, baseId: null, keep: [] }));
    const picture = join(layout.htdocsOf(install.id), `wp-content/uploads/new-${n}.jpg`);
    await writeFile(picture, randomBytes(100_000));
    await chown(picture, uid, uid);
    await databases.query(
      database,
      `UPDATE wp_posts SET post_title = 'round ${n}' WHERE post_name = 'bench-7'`,
    );
    await sleep(SETTLED_MS);
    const size = await stored();
    const made: { mark?: string } = {};
    const busy = await cost(async () => {
      const order = { pointId: randomUUID(), baseId: base, keep: [base] };
      const { baseId, mark } = await remote.recordPoint(install, order);
      if (baseId !== base) throw new Error('the point has all files');
      made.mark = mark;
    });
    const busyBytes = (await stored()) - size;
    const { mark = '' } = made;
    const looks = 20;
    const idle = await cost(async () => {
      for (let look = 0; look < looks; look++) {
        const unchanged = await remote.unchangedWebsites([{ installId: install.id, mark }]);
        if (unchanged.length === 0) throw new Error('the website changed');
      }
    });
    rounds.push({ backup, whole, busy, idle: idle / looks, busyBytes });
  }
  return rounds;
}
