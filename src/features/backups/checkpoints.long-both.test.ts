import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type Person, startTestHomeport, type TestHomeport } from '../../../test/homeport.ts';
import { type ManualClock, manualClock } from '../../../test/manual-clock.ts';
import { onlyOn } from '../../../test/only-on.ts';
import { onlyInLong } from '../../../test/rounds.ts';
import { operatorFor } from '../../access/caller.ts';
import { checkCheckpoints } from '../../cli/doctor/checkpoints.ts';
import {
  BrokenWebsiteError,
  PermanentHostError,
  RefusedRestoreError,
  UnchangedWebsiteError,
} from '../../hosting/contract/errors.ts';
import type { HostMachine } from '../../hosting/contract/host.ts';
import { HostUnreachableError } from '../../hosting/remote/client.ts';
import { type ServedMachine, serveMachine } from '../../hosting/remote/embedded-machine.fixture.ts';
import { isBegun } from '../../jobs/begun-store.ts';
import { Postponed } from '../../jobs/job.ts';
import { MINUTE_MS } from '../../lib/durations.ts';
import { environment } from '../hosts/fleet.fixture.ts';
import { RETURN_ATTEMPTS } from './checkpoints.ts';
import { notedRestore } from './noted-restore.ts';
import { EVERYTHING } from './replaced-parts.ts';

/** A test of a rule, which runs once: other tests reach its queries. */
const rule = onlyOn('sqlite', it);

type Install = { id: string; name: string };
type Restored = Parameters<HostMachine['restore']>;

const NO_ROOM = 'The host has too little free space. Ask its operator.';

let machine: ServedMachine;
let homeport: TestHomeport;
let clock: ManualClock;
let owner: Person;
let accountId: string;
let source: Install;
let install: Install;
/** The backups that the host was to restore into the install. */
let restored: string[];
let restore: HostMachine['restore'];

beforeAll(async () => {
  clock = manualClock();
  machine = await serveMachine();
  ({ restore } = machine.machine);
  homeport = await startTestHomeport({ clock, environment: environment(machine.runFolder) });
  ({ accountId, owner } = await homeport.ownedAccount());
  source = await homeport.install(owner, accountId);
});
beforeEach(async () => {
  restored = [];
  machine.machine.restore = restore;
  install = await homeport.install(owner, accountId);
});
afterAll(async () => {
  await homeport?.remove();
  await machine?.close();
});

function answer(restore: (...args: Restored) => Promise<unknown>): void {
  machine.machine.restore = async (...args) => {
    restored.push(args[1]);
    await restore(...args);
    return { bytes: 1, files: 1, sha256: '0'.repeat(64) };
  };
}

const get = async (path: string) => (await owner.client.get(path)).body;
const operations = async (kind: string): Promise<{ id: string; status: string; error: unknown }[]> =>
  Object(await get(`/operations?install_id=${install.id}&kind=${kind}&limit=100`)).results;

/** Runs until no jobs are left, delayed ones included. */
async function finish(): Promise<void> {
  for (let times = 0; times <= RETURN_ATTEMPTS; times += 1) {
    await homeport.idle();
    clock.advance(6 * MINUTE_MS);
  }
}

/** Copies the source into the install, with a checkpoint. */
const copy = () =>
  homeport.services.backups.copy(operatorFor(owner.userId), source.id, {
    into: install.id,
    keepBackup: false,
    checkpoint: true,
    parts: EVERYTHING,
    notification_emails: [],
  });

const changePlugin = () =>
  owner.client.post(`/installs/${install.id}/wordpress/changes`, {
    kind: 'plugin',
    id: 'akismet',
    status: 'active',
  });

onlyOn('sqlite', describe)('the checkpoint of a copy', () => {
  onlyInLong(it)('is kept with a copy that does not work, which says what is wrong', async () => {
    const warning = 'the home page answers 500';
    machine.machine.restore = async () => ({ bytes: 1, files: 1, sha256: '0'.repeat(64), warning });
    await copy();
    await finish();
    expect(await operations('install.copy')).toMatchObject([
      { status: 'succeeded', error: null, result: { checkpoint_id: expect.any(String), warning } },
    ]);
    // The host holds no more installs than the other tests need.
    await owner.client.delete(`/installs/${install.id}`);
    await finish();
  });

  it('has to be there before the copy replaces anything', async () => {
    const { snapshot } = machine.machine;
    machine.machine.snapshot = async (of, ...rest) => {
      if (of.id === install.id) throw new PermanentHostError('the place of backups is full');
      return snapshot(of, ...rest);
    };
    answer(() => Promise.resolve());
    await copy();
    await finish();
    machine.machine.snapshot = snapshot;
    const message = expect.stringMatching(/^The checkpoint could not be made, so nothing was replaced/);
    expect(await operations('install.copy')).toMatchObject([{ status: 'failed', error: { message } }]);
    expect(restored).toEqual([]);
    await owner.client.delete(`/installs/${install.id}`);
    await finish();
  });

  it('is not put back if the host replaced nothing, and the customer reads why', async () => {
    answer(() => Promise.reject(new RefusedRestoreError(NO_ROOM)));
    await copy();
    await finish();
    expect(await operations('install.copy')).toMatchObject([
      { status: 'failed', error: { code: 'change_refused', message: NO_ROOM } },
    ]);
    expect([restored.length, await operations('backup.restore')]).toEqual([1, []]);
  });

  onlyInLong(it)('is not put back if every attempt left the website', async () => {
    answer(() => Promise.reject(new UnchangedWebsiteError('the database server restarts')));
    await copy();
    await finish();
    expect([restored.length, await operations('backup.restore')]).toEqual([3, []]);
  });

  it('is put back if an earlier attempt may have replaced the website', async () => {
    answer(async () => {
      if (restored.length === 1) throw new Error('the host was killed');
      if (restored.length === 2) throw new RefusedRestoreError(NO_ROOM);
    });
    await copy();
    await finish();
    expect(restored).toHaveLength(3);
    expect(await operations('install.copy')).toMatchObject([
      { status: 'failed', error: { code: 'rolled_back', message: NO_ROOM } },
    ]);
  });

  it('is put back before the operation fails if the copy does not answer', async () => {
    const seen: unknown[] = [];
    answer(async () => {
      if (restored.length === 1) throw new BrokenWebsiteError('the home page answers 500');
      seen.push((await operations('install.copy'))[0]?.status);
    });
    await copy();
    await finish();
    expect(seen).toEqual(['running']);
    expect(await operations('install.copy')).toMatchObject([
      { status: 'failed', error: { code: 'rolled_back', message: 'the home page answers 500' } },
    ]);
    expect(await operations('backup.restore')).toEqual([]);
  });

  it('is put back later if that is refused at first', async () => {
    answer(async () => {
      if (restored.length === 1) throw new BrokenWebsiteError('the home page answers 500');
      if (restored.length === 2) throw new RefusedRestoreError(NO_ROOM);
    });
    await copy();
    await finish();
    expect(await operations('install.copy')).toMatchObject([
      { status: 'failed', error: { code: 'host_refused', message: 'the home page answers 500' } },
    ]);
    expect(await operations('backup.restore')).toMatchObject([{ status: 'succeeded' }]);
  });
});

it('counts a job as begun only if its host was reached', async () => {
  const { platform } = homeport;
  const { reader } = platform.database;
  const { id } = await reader
    .selectFrom('jobs')
    .select('id')
    .where('begun_at', 'is', null)
    .limit(1)
    .executeTakeFirstOrThrow();
  const away = (isUnsent: boolean) =>
    notedRestore(platform, id, () => Promise.reject(new HostUnreachableError('web1 is away', { isUnsent })));
  for (const isUnsent of [true, false, true]) {
    const wasBegun = await isBegun(reader, id);
    await expect(away(isUnsent)).rejects.toThrow(Postponed);
    expect(await isBegun(reader, id)).toBe(wasBegun || !isUnsent);
  }
});

describe('the return to a checkpoint', () => {
  let changes: number;
  beforeEach(() => {
    changes = 0;
    machine.machine.changeItem = async () => {
      changes += 1;
      return { changed: { id: 'akismet/akismet.php', name: 'Akismet', version: '5.4' } };
    };
  });

  /** A copy that breaks the website, behind which a change of a plugin waits. */
  async function breakWebsite(): Promise<void> {
    let requested: Promise<unknown> = Promise.resolve();
    const returned = machine.machine.restore;
    machine.machine.restore = async () => {
      machine.machine.restore = returned;
      requested = changePlugin();
      await requested;
      throw new BrokenWebsiteError('the home page answers 500');
    };
    await copy();
    while ((await operations('install.copy'))[0]?.status !== 'failed') {
      await homeport.idle();
      clock.advance(MINUTE_MS);
    }
    await requested;
    await homeport.idle();
  }

  onlyInLong(rule)('is tried again while the host refuses it, and holds up what waits', async () => {
    let isFull = true;
    answer(async () => {
      if (isFull) throw new RefusedRestoreError(NO_ROOM);
    });
    await breakWebsite();
    const attempts = restored.length;
    clock.advance(6 * MINUTE_MS);
    await homeport.idle();
    expect([restored.length, changes]).toEqual([attempts + 1, 0]);
    isFull = false;
    await finish();
    expect(await operations('backup.restore')).toMatchObject([{ status: 'succeeded' }]);
    expect([restored.length, changes]).toEqual([attempts + 2, 1]);
  });

  rule('that fails for good fails what waited for it, until the website is replaced', async () => {
    answer(() => Promise.reject(new RefusedRestoreError(NO_ROOM)));
    await breakWebsite();
    await finish();
    // The first one was before the copy failed.
    expect(restored).toHaveLength(1 + RETURN_ATTEMPTS);
    expect(await operations('backup.restore')).toMatchObject([
      { status: 'failed', error: { code: 'host_refused', message: NO_ROOM } },
    ]);
    expect(await operations('wordpress.change')).toMatchObject([
      { status: 'failed', error: { code: 'not_restored' } },
    ]);
    expect(changes).toBe(0);
    const { database } = homeport.platform;
    expect(await checkCheckpoints(database, clock)).toMatchObject([
      { state: 'problem', message: expect.stringContaining(`${install.name} was not returned`) },
    ]);
    await changePlugin();
    await finish();
    expect(changes).toBe(1);
    answer(async () => {});
    const { results } = Object(await get(`/installs/${install.id}/backups`));
    await homeport.services.backups.restore(operatorFor(owner.userId), install.id, results[0].id, {
      ...{ into: null, parts: { ...EVERYTHING, database: false }, checkpoint: false },
      notification_emails: [],
    });
    await finish();
    expect(await checkCheckpoints(database, clock)).toMatchObject([{ state: 'problem' }]);
    await homeport.services.backups.restore(operatorFor(owner.userId), install.id, results[0].id, {
      ...{ into: null, parts: EVERYTHING, checkpoint: false },
      notification_emails: [],
    });
    await finish();
    expect(await checkCheckpoints(database, clock)).toMatchObject([{ state: 'ok' }]);
  });

  it('is given up at once if the checkpoint is lost, and after three other errors', async () => {
    answer(() => Promise.reject(new RefusedRestoreError('It is damaged.', { isLost: true })));
    await breakWebsite();
    await finish();
    expect([restored.length, await operations('backup.restore')]).toEqual([
      2,
      [expect.objectContaining({ status: 'failed' })],
    ]);
    answer(() => Promise.reject(new Error('the disk is broken')));
    restored = [];
    await breakWebsite();
    await finish();
    expect(restored).toHaveLength(1 + 3);
  });
});
