import { randomBytes, randomUUID } from 'node:crypto';
import { access, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { shownBytes } from '../../src/cli/terminal/output.ts';
import type { InstallState } from '../../src/hosting/contract/install-state.ts';
import { createDatabases, type Databases } from '../../src/hosting/linux/daemons/databases.ts';
import { createUnixUsers } from '../../src/hosting/linux/isolation/unix-users.ts';
import { plainState } from '../../test/host/state.ts';
import { progress, type Run } from '../measure/report.ts';
import { median, shownMs, timed } from '../measure/units.ts';
import { type BenchHost, withBenchHost } from './bench-host.ts';
import { createPlainRestic, type PlainRestic } from './plain-restic.ts';
import { FILES, POSTS, postStatements, writeUploads } from './website-content.ts';

const GOAL = 1.2;
/** Password of the repository, which exists only during the bench. */
const PASSWORD = randomBytes(32).toString('base64url');

/** A large website, with everything needed to back it up in both ways. */
interface Stage {
  host: BenchHost;
  install: InstallState;
  uid: number;
  databases: Databases;
  database: string;
  /** Another database of the install's user, to load a dump into. */
  scratchDatabase: string;
  restic: PlainRestic;
  dump: string;
  restored: string;
}

/** Durations of one round, in milliseconds. */
interface Round {
  first: number;
  again: number;
  restore: number;
  plainFirst: number;
  plainFirstRead: number;
  plainAgain: number;
  plainAgainRead: number;
  plainRestore: number;
}

/** Backup and restore of a large website by the host, compared with plain restic on the same folders. */
export async function benchBackups({ report, quick }: Run): Promise<void> {
  const count = quick ? 1 : 3;
  progress('starting a host');
  const { rounds, dumpBytes } = await withBenchHost(async (host) => {
    host.remote.answer(
      { sshLogin: async () => null, sshRelay: async () => null, backupPassword: async () => PASSWORD },
      (error) => progress(`the reply to the host failed: ${String(error)}`),
    );
    const stage = await setStage(host);
    const done: Round[] = [];
    for (let n = 1; n <= count; n++) {
      progress(`backup and restore, round ${n} of ${count}`);
      done.push(await measureRound(stage, `round ${n}`));
    }
    return { rounds: done, dumpBytes: (await stat(stage.dump)).size };
  });

  const of = (part: keyof Round) => median(rounds.map((round) => round[part]));
  const row = (what: string, own: number, plain: number, beside: string) => {
    const ratio = own / plain;
    report.figure({
      what,
      value: ratio,
      unit: 'ratio',
      measured: shownMs(own),
      beside: `${beside}: ${shownMs(plain)}`,
      goal: { atMost: GOAL },
    });
  };
  report.part(
    `5. Backup of ${FILES.toLocaleString('en')} files, 110 MB, and a database of ${shownBytes(dumpBytes)}; median of ${rounds.length}`,
  );
  const byHand = 'dump + restic backup';
  const readToo = `${byHand} + restic dump of all of it`;
  row('backup, all of it new', of('first'), of('plainFirst'), byHand);
  row('backup, all of it new, both read back', of('first'), of('plainFirstRead'), readToo);
  row('backup, nothing changed', of('again'), of('plainAgain'), byHand);
  row('backup, nothing changed, both read back', of('again'), of('plainAgainRead'), readToo);
  row('restore', of('restore'), of('plainRestore'), 'restic restore + load of the dump');
  report.note(
    'The host reads every backup back before completing it. Plain restic does not, so both variants are shown.',
  );
  report.note(
    'The host: command at its socket until it is done, in the repository of the install. By hand: the same files (htdocs and private) and',
  );
  report.note(
    'the same dump, in a repository made before, with a cache. The dump is made and loaded by the same programs on both sides.',
  );
  report.end();
}

async function setStage(host: BenchHost): Promise<Stage> {
  const { machine, layout } = host;
  const install = plainState('bench-backups');
  await host.remote.apply(install);
  const user = await createUnixUsers({ instance: machine.instance, uids: machine.config.hostUids }).find(
    install.id,
  );
  if (user === null) throw new Error('the install has no Unix user');
  const databases = createDatabases({ layout });
  const scratchDatabase = 'hp_bench_scratch';
  await databases.create(scratchDatabase, install.name);
  const folder = join(machine.folder, 'plain');
  return {
    host,
    install,
    uid: user.uid,
    databases,
    database: `hp_${install.id.replaceAll('-', '')}`,
    scratchDatabase,
    restic: await createPlainRestic(folder),
    dump: join(folder, 'database.sql'),
    restored: join(folder, 'restored'),
  };
}

/** The website's whole content is new to both repositories in each round. */
async function measureRound(stage: Stage, seed: string): Promise<Round> {
  const { host, install, uid, databases, database } = stage;
  await writeUploads(host.layout.htdocsOf(install.id), uid, seed);
  await databases.query(database, postStatements(seed));
  const backupId = randomUUID();
  const first = await timed(() => host.remote.snapshot(install, backupId));
  const plain = await backUpPlainly(stage);
  const again = await timed(() => host.remote.snapshot(install, randomUUID()));
  const plainly = await backUpPlainly(stage);

  await spoil(stage);
  const restore = await timed(() => host.remote.restore(install, backupId));
  await requireRestored(stage);
  const plainRestore = await timed(() => restorePlainly(stage, plain.id));
  return {
    first,
    again,
    restore,
    plainFirst: plain.made,
    plainFirstRead: plain.made + plain.read,
    plainAgain: plainly.made,
    plainAgainRead: plainly.made + plainly.read,
    plainRestore,
  };
}

async function backUpPlainly({ host, install, databases, database, restic, dump }: Stage) {
  let id = '';
  const made = await timed(async () => {
    await databases.dump(database, dump);
    id = await restic.backUp([host.layout.htdocsOf(install.id), host.layout.privateOf(install.id), dump]);
  });
  return { id, made, read: await timed(() => restic.readBack(id)) };
}

async function restorePlainly(stage: Stage, snapshot: string): Promise<void> {
  await stage.restic.restore(snapshot, stage.restored);
  await stage.databases.load(stage.scratchDatabase, join(stage.restored, stage.dump));
}

const uploadOf = ({ host, install }: Stage) =>
  join(host.layout.htdocsOf(install.id), 'wp-content/uploads/0/0.txt');

/** Damages the website, so that a restore without effect is detected. */
async function spoil(stage: Stage): Promise<void> {
  await rm(uploadOf(stage));
  await stage.databases.query(stage.database, "DELETE FROM wp_posts WHERE post_name LIKE 'bench-%'");
}

async function requireRestored(stage: Stage): Promise<void> {
  await access(uploadOf(stage));
  const counted = await stage.databases.query(
    stage.database,
    "SELECT COUNT(*) FROM wp_posts WHERE post_name LIKE 'bench-%'",
  );
  if (counted[0]?.[0] !== String(POSTS))
    throw new Error(`${counted[0]?.[0]} posts were restored of ${POSTS}`);
}
