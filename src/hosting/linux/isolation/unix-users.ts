import { join } from 'node:path';
import { batchUnderLock } from '../../../lib/concurrency.ts';
import { INSTALL_NAME } from '../../../lib/host-names.ts';
import { parseUuid } from '../../../lib/ids.ts';
import { PermanentHostError } from '../../contract/errors.ts';
import {
  type AccountLine,
  accountsIn,
  type IdRange,
  type NumberedName,
  namesIn,
  relayIdIn,
  relayIdsIn,
  subordinateRanges,
  withAccount,
  withLine,
  withoutAccount,
  withoutName,
  withoutRelays,
  withRelays,
} from './account-files.ts';
import { withFileLock } from './file-lock.ts';
import { readSystemFile, writeSystemFile } from './system-file.ts';

export { enableExtrausers } from './nsswitch.ts';

export type UnixUser = AccountLine;

/**
 * The Unix users of installs. They are in separate files, which libnss-extrausers adds to the system, so that `/etc/passwd`
 * stays unchanged and names may be longer than useradd(8) allows.
 */
export interface UnixUsers {
  /**
   * Creates or corrects the install's user and group of that name, without a password. A new one gets an id unused on the
   * machine; an existing one keeps its id. `uid`: the id that the install's files already have; no other is accepted. Rejects
   * with a {@link PermanentHostError} if the name or id belongs to someone else, or no id is left.
   */
  ensure(user: {
    installId: string;
    name: string;
    home: string;
    shell: string;
    uid?: number | undefined;
  }): Promise<{ uid: number; gid: number }>;
  find(installId: string): Promise<UnixUser | null>;
  /** Removes user and group. Succeeds if they are missing. `name`: its group is also removed if its user is lost already. */
  remove(installId: string, name?: string): Promise<void>;
  /** All users of this host. */
  list(): Promise<UnixUser[]>;
  /** Whether the user's lines in all three files are complete. */
  isWhole(user: UnixUser): Promise<boolean>;
  /** Names of groups with an id of this host, but without a user. */
  groupsLeft(): Promise<string[]>;
  /**
   * Lets these names sign in by SSH, as one user without rights, to be passed on to other hosts. Replaces the former names. They go before the
   * users of installs, which keep their names and files. Leaves out names of the system's own users, who would be signed in instead.
   */
  setRelays(names: readonly string[]): Promise<void>;
  /** Whether this process has let the name sign in. */
  isRelay(name: string): boolean;
  /** The user id of those names; null without any. */
  relayId(): Promise<number | null>;
  /** Removes such a group with its line in shadow(5). Succeeds if it is missing or has a user. */
  removeGroup(name: string): Promise<void>;
}

export interface UnixUsersOptions {
  /** This host's name on the machine; lines of other hosts stay untouched. */
  instance: string;
  /** First and last user id to give out. */
  uids: IdRange;
  /** Folder of the extrausers files. */
  folder?: string;
  /** Folder of the system's own passwd(5), group(5), subuid(5) and subgid(5). */
  systemFolder?: string;
}

const RELAY_IDS = 10_000;
const NAME = new RegExp(`^${INSTALL_NAME}$`);

export function createUnixUsers(options: UnixUsersOptions): UnixUsers {
  const { instance, uids, folder = '/var/lib/extrausers', systemFolder = '/etc' } = options;
  const passwd = join(folder, 'passwd');
  const group = join(folder, 'group');
  const shadow = join(folder, 'shadow');
  let relays: ReadonlySet<string> = new Set();

  // Taking the lock costs two processes, so callers that wait at the same time share it.
  const alone = batchUnderLock((work) => withFileLock(join(folder, '.homeport.lock'), work));

  async function list(): Promise<UnixUser[]> {
    return accountsIn(await readSystemFile(passwd), instance);
  }

  async function find(installId: string): Promise<UnixUser | null> {
    return (await list()).find((user) => user.installId === installId) ?? null;
  }

  async function rewrite(
    path: string,
    change: (text: string) => string,
    mode: { mode: number; gid?: number },
  ): Promise<void> {
    const before = await readSystemFile(path);
    const after = change(before);
    if (after !== before) await writeSystemFile(path, after, mode);
  }

  const rewritePasswd = (change: (text: string) => string) => rewrite(passwd, change, { mode: 0o644 });

  async function rewriteGroupAndShadow(inGroup: Change, inShadow: Change): Promise<void> {
    const gid = await shadowGroup(systemFolder);
    await Promise.all([
      rewrite(group, inGroup, { mode: 0o644 }),
      rewrite(shadow, inShadow, { mode: 0o640, gid }),
    ]);
  }

  /** Whether all three files are as {@link UnixUsers.ensure} leaves them: most callers only need the ids. */
  async function isWhole(user: UnixUser): Promise<boolean> {
    const [passwdText, groupText, shadowText] = await Promise.all(
      [passwd, group, shadow].map(readSystemFile),
    );
    return (
      withAccount(passwdText ?? '', instance, user) === passwdText &&
      withLine(groupText ?? '', groupLine(user)) === groupText &&
      withLine(shadowText ?? '', shadowLine(user)) === shadowText
    );
  }

  /** Groups of this host that lost their user: the id is one of this host's, and no user has the name or the id. */
  async function lostGroups(): Promise<NumberedName[]> {
    const [passwdText, groupText] = await Promise.all([passwd, group].map(readSystemFile));
    const present = namesIn(passwdText ?? '');
    const names = new Set(present.map(({ name }) => name));
    const numbers = new Set(present.map(({ number }) => number));
    return namesIn(groupText ?? '').filter(
      ({ name, number }) =>
        number >= uids.first && number <= uids.last && !names.has(name) && !numbers.has(number),
    );
  }

  async function dropLostGroup(wanted: string): Promise<void> {
    if (!(await lostGroups()).some(({ name }) => name === wanted)) return;
    await rewriteGroupAndShadow(dropping(wanted), dropping(wanted));
  }

  /** Names and ids that other users and groups have. */
  async function others(installId: string): Promise<{ names: Set<string>; ids: Set<number> }> {
    const own = await find(installId);
    const files = [passwd, group, join(systemFolder, 'passwd'), join(systemFolder, 'group')];
    const taken = (await Promise.all(files.map(readSystemFile))).map((text, file) =>
      namesIn(file === 0 ? withoutRelays(text ?? '') : text).filter(
        ({ name, number }) => file > 1 || name !== own?.name || number !== own.uid,
      ),
    );
    const relayIds = relayIdsIn((await readSystemFile(passwd)) ?? '');
    return {
      names: new Set(taken.flat().map(({ name }) => name)),
      ids: new Set([...taken.flat().map(({ number }) => number), ...relayIds]),
    };
  }

  /** Above the ids of installs, because the firewall keeps those from other hosts. */
  async function freeRelayId(): Promise<number> {
    const first = uids.last + 1;
    return freeId({ first, last: first + RELAY_IDS }, (await others('')).ids, await subordinate());
  }

  /** The present one; null without any, and if the ids of installs now include it: its processes have keys of sessions of all websites. */
  function relayIdOf(text: string): number | null {
    const id = relayIdIn(text, instance);
    return id !== null && id >= uids.first && id <= uids.last ? null : id;
  }

  async function subordinate(): Promise<IdRange[]> {
    const files = ['subuid', 'subgid'].map((name) => readSystemFile(join(systemFolder, name)));
    return (await Promise.all(files)).flatMap(subordinateRanges);
  }

  return {
    list,
    find,

    async ensure({ installId, name, home, shell, uid: wanted }) {
      checkFields(installId, name, home, shell);
      const present = await find(installId);
      if (present !== null) requireUid(present, wanted);
      if (present !== null && (await isWhole({ ...present, name, home, shell }))) {
        return { uid: present.uid, gid: present.gid };
      }
      return alone(async () => {
        await dropLostGroup(name);
        const { names, ids } = await others(installId);
        if (names.has(name))
          throw new PermanentHostError(`the machine already has a user or group "${name}"`);
        const before = await find(installId);
        if (before === null && wanted !== undefined && ids.has(wanted)) {
          throw new PermanentHostError(
            `the files of ${name} belong to user id ${wanted}, which now belongs to another user of this machine`,
          );
        }
        const uid = before?.uid ?? wanted ?? freeId(uids, ids, await subordinate());
        // The passwd(5) line comes first and goes last: it shows which install the other lines belong to.
        if (before && before.name !== name) {
          await rewriteGroupAndShadow(dropping(before.name), dropping(before.name));
        }
        const user = { installId, name, uid, gid: uid, home, shell };
        await rewritePasswd((text) => withAccount(text, instance, user));
        await rewriteGroupAndShadow(
          (text) => withLine(text, groupLine(user)),
          (text) => withLine(text, shadowLine(user)),
        );
        return { uid: user.uid, gid: user.gid };
      });
    },

    isWhole,
    // A group stands without its user while the user is written, so only the lock shows a lost one. Few need it.
    groupsLeft: async () =>
      (await lostGroups()).length === 0
        ? []
        : alone(async () => (await lostGroups()).map(({ name }) => name)),
    removeGroup: (name) => alone(() => dropLostGroup(name)),

    async setRelays(names) {
      const system = new Set(
        namesIn(await readSystemFile(join(systemFolder, 'passwd'))).map(({ name }) => name),
      );
      const wanted = names.filter((name) => NAME.test(name) && !system.has(name));
      relays = new Set(wanted);
      const present = (await readSystemFile(passwd)) ?? '';
      const presentId = relayIdOf(present);
      if (wanted.length === 0 && relayIdIn(present, instance) === null) return;
      if (presentId !== null && withRelays(present, instance, wanted, presentId) === present) return;
      await alone(async () => {
        const before = relayIdOf((await readSystemFile(passwd)) ?? '');
        const uid = before ?? (await freeRelayId());
        await rewritePasswd((text) => withRelays(text, instance, wanted, uid));
      });
    },
    isRelay: (name) => relays.has(name),
    relayId: async () => relayIdOf((await readSystemFile(passwd)) ?? ''),

    async remove(installId, name) {
      await alone(async () => {
        const user = await find(installId);
        if (user === null) return name === undefined ? undefined : dropLostGroup(name);
        await rewriteGroupAndShadow(dropping(user.name), dropping(user.name));
        await rewritePasswd((text) => withoutAccount(text, instance, installId));
      });
    },
  };
}

/** Under another id, a website could not read its own files, and could read those of the id's previous owner. */
function requireUid({ name, uid }: UnixUser, wanted: number | undefined): void {
  if (wanted === undefined || wanted === uid) return;
  throw new PermanentHostError(
    `user ${name} has id ${uid}, but its files belong to ${wanted}: give it that id in /var/lib/extrausers`,
  );
}

function groupLine({ name, gid }: UnixUser): string {
  return `${name}:x:${gid}:`;
}

/** `*` matches no password. `!` would lock the account, and sshd would refuse its keys too. */
function shadowLine({ name }: UnixUser): string {
  return `${name}:*:::::::`;
}

type Change = (text: string) => string;

function dropping(name: string): Change {
  return (text) => withoutName(text, name);
}

function checkFields(installId: string, name: string, home: string, shell: string): void {
  if (parseUuid(installId) !== installId) {
    throw new PermanentHostError(`"${installId}" is not the id of an install`);
  }
  if (!NAME.test(name)) throw new PermanentHostError(`"${name}" cannot be the name of a Unix user`);
  for (const path of [home, shell]) {
    if (!/^\/[^:\n\0]*$/.test(path))
      throw new PermanentHostError(`"${path}" is not a valid path in passwd(5)`);
  }
}

/**
 * The id after the highest one taken, or the lowest free one if there is no higher id. A removed user's id is thus not soon
 * reused, in case files of it are left. Never an id that containers of a user may run as.
 */
export function freeId(range: IdRange, taken: ReadonlySet<number>, subordinate: readonly IdRange[]): number {
  const { first, last } = range;
  const nextFree = (from: number): number | null => {
    for (let id = from; id <= last; id += 1) {
      const around = subordinate.find((other) => id >= other.first && id <= other.last);
      if (around) id = around.last;
      else if (!taken.has(id)) return id;
    }
    return null;
  };
  let highest = first - 1;
  for (const id of taken) if (id >= first && id <= last && id > highest) highest = id;
  const id = nextFree(highest + 1) ?? nextFree(first);
  if (id !== null) return id;
  throw new PermanentHostError(
    `all user ids from ${first} to ${last} are taken: widen HOMEPORT_HOST_UIDS on this host`,
  );
}

async function shadowGroup(systemFolder: string): Promise<number> {
  const groups = namesIn(await readSystemFile(join(systemFolder, 'group')));
  return groups.find(({ name }) => name === 'shadow')?.number ?? 0;
}

/** Names of the system's users and groups, which no install may have. */
export async function systemLogins(systemFolder = '/etc'): Promise<string[]> {
  const files = ['passwd', 'group'].map((name) => readSystemFile(join(systemFolder, name)));
  return [...new Set((await Promise.all(files)).flatMap(namesIn).map(({ name }) => name))].sort();
}
