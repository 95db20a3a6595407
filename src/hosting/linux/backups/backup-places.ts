import { readFile, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { Logger } from 'pino';
import { type Clock, timestamp } from '../../../lib/clock.ts';
import { serializeByKey } from '../../../lib/concurrency.ts';
import { writeDurably } from '../../../lib/durable-file.ts';
import { DAY_MS } from '../../../lib/durations.ts';
import { ifThere } from '../../../lib/if-there.ts';
import {
  type BackupPlacesReport,
  type CountedBackups,
  type RefusedPlace,
  refusedPlaceSentence,
  type UnseenPlace,
} from '../../contract/backup-places.ts';
import { countSnapshots } from './count-snapshots.ts';
import { hasMark, markIfUsed, putMark, UnseenPlaceError, unseenReason } from './place-mark.ts';
import {
  type Deletions,
  type PlacesRecord,
  parsePlacesRecord,
  withDeletion,
  withMark,
  withRoot,
} from './places-record.ts';
import { placeIn, type RepositoryPlace, type RepositoryRoot } from './repository-place.ts';
import type { S3Credentials } from './repository-storage.ts';

/** After a switch, nothing is deleted automatically for these days. */
const SETTLING_MS = 7 * DAY_MS;

/**
 * The places of all backup repositories. A changed setting alone does not switch: the new place lacks the backups, and the listed ones
 * could not be restored. Backups continue in the former place until they are moved, or the operator accepts the loss.
 */
export interface BackupPlaces {
  /** The present place of an install's repository. */
  placeOf(installId: string): Promise<RepositoryPlace>;
  current(): Promise<RepositoryRoot>;
  report(): Promise<BackupPlacesReport>;
  /** Whether the host switched to the place only recently. */
  isSettling(): Promise<boolean>;
  /**
   * Rejects with an UnseenPlaceError if a place that has held backups is not there now. An empty folder alone is no proof of an empty
   * place: its disk may not be mounted.
   */
  requireSeen(root: RepositoryRoot): Promise<void>;
  /** Marks a place before the first repository in it is created. Rejects like {@link BackupPlaces.requireSeen}. */
  claim(root: RepositoryRoot): Promise<void>;
  /** The place of an install's repository, current or former. */
  rootOf(installId: string): Promise<RepositoryRoot>;
  /** Accepts the current place as it is. Its earlier backups are lost, or were left behind. */
  acceptCurrent(): Promise<void>;
  /** Begins or continues a move to a place. Until {@link BackupPlaces.endMove}, deletions are recorded for it. */
  beginMove(target: RepositoryRoot): Promise<void>;
  endMove(target: RepositoryRoot): Promise<void>;
  /** Notes that a backup, or with null the whole repository of an install, is deleted. Call it before the deletion. */
  noteDeletion(installId: string, backupId: string | null): Promise<void>;
  /** What was deleted since the unfinished move to a place began. */
  deletionsFor(target: RepositoryRoot): Promise<Deletions>;
  /** The deletion of a repository has reached that place. */
  forgetDeletion(target: RepositoryRoot, installId: string): Promise<void>;
  /** Switches to a place. The repositories of these installs stay where they are until {@link BackupPlaces.moved}. */
  switchTo(target: RepositoryRoot, staying: readonly string[]): Promise<void>;
  /** The repository of an install is in the current place from now on. */
  moved(installId: string): Promise<void>;
  former(): Promise<RepositoryRoot[]>;
  /** The key of a place that the settings or the record name; null without one. */
  keyOf(address: string): Promise<S3Credentials | null>;
  addFormer(place: RepositoryRoot): Promise<void>;
  /** The operator has had the repositories of a former place deleted. */
  forgetFormer(address: string): Promise<void>;
}

export function createBackupPlaces({
  file,
  configured,
  clock,
  log,
}: {
  file: string;
  /** The place in the settings. */
  configured: RepositoryRoot;
  clock: Clock;
  log: Logger;
}): BackupPlaces {
  const serially = serializeByKey();
  let settled: Promise<{ record: PlacesRecord; refused: RefusedPlace | null }> | undefined;

  /** Compares the settings with the record once. A failure is not kept. */
  function state() {
    settled ??= settle().catch((error: unknown) => {
      settled = undefined;
      throw error;
    });
    return settled;
  }

  async function settle(): Promise<{ record: PlacesRecord; refused: RefusedPlace | null }> {
    const text = await ifThere(readFile(file, 'utf8'));
    if (text === null) {
      const first = await marked({
        setting: configured.address,
        current: configured,
        since: null,
        waiting: {},
        former: [],
        marked: [],
      });
      await write(first);
      return { record: first, refused: null };
    }
    const record = parsePlacesRecord(text, file);
    if (configured.address === record.current.address) {
      // The credentials may be new.
      const followed = await marked({ ...record, setting: configured.address, current: configured });
      await write(followed);
      return { record: followed, refused: null };
    }
    if (configured.address === record.setting) return { record: await marked(record), refused: null };
    const held = await heldIn(record);
    if (held?.backups === 0 && Object.keys(record.waiting).length === 0) {
      const empty = { ...record, setting: configured.address, current: configured, since: null };
      await write(empty);
      return { record: empty, refused: null };
    }
    const refused = { address: configured.address, held };
    log.error(refusedPlaceSentence(record.current.address, refused));
    return { record, refused };
  }

  /** The record with a mark of the current place, if that holds backups and was never marked. */
  async function marked(record: PlacesRecord): Promise<PlacesRecord> {
    const { current } = record;
    if (record.marked?.includes(current.address)) return record;
    try {
      return (await markIfUsed(current)) ? withMark(record, current.address) : record;
    } catch (err) {
      log.warn({ err }, 'could not read the place of the backups');
      return record;
    }
  }

  /** The backups in the current place; null if they cannot be seen. */
  async function heldIn({ current, marked: known }: PlacesRecord): Promise<CountedBackups | null> {
    try {
      const held = await countSnapshots(current);
      // Without a record of its mark, an empty place may be that of an unmounted disk.
      if (held.backups === 0 && known === undefined) return null;
      return known?.includes(current.address) && !(await hasMark(current)) ? null : held;
    } catch (err) {
      log.warn({ err }, 'could not read the place of the backups');
      return null;
    }
  }

  const write = (record: PlacesRecord) => writeDurably(file, JSON.stringify(record));

  const change = (next: (record: PlacesRecord) => PlacesRecord): Promise<void> =>
    serially('', async () => {
      const { record, refused } = await state();
      const changed = next(record);
      await write(changed);
      const isAnswered = changed.setting === refused?.address;
      settled = Promise.resolve({ record: changed, refused: isAnswered ? null : refused });
    });

  /** The place of the settings comes first, because it has the newest credentials. */
  const rootsOf = ({ current, former }: PlacesRecord) => [configured, current, ...former];

  /** A place that the record knows. */
  function rootAt(record: PlacesRecord, address: string): RepositoryRoot {
    const known = rootsOf(record).find((one) => one.address === address);
    if (known === undefined) throw new Error(`the record of backup places does not know ${address}`);
    return known;
  }

  async function rootOf(installId: string): Promise<RepositoryRoot> {
    const { record } = await state();
    const address = record.waiting[installId];
    return address === undefined ? record.current : rootAt(record, address);
  }

  async function requireSeen(root: RepositoryRoot): Promise<void> {
    const { marked: known = [] } = (await state()).record;
    if (!known.includes(root.address)) return;
    const reason = await unseenReason(root);
    if (reason !== null) throw new UnseenPlaceError({ address: root.address, reason });
  }

  async function mark(root: RepositoryRoot): Promise<void> {
    await putMark(root);
    await change((record) => withMark(record, root.address));
  }

  async function unseenOf(record: PlacesRecord): Promise<UnseenPlace[]> {
    const places = [record.current, ...record.former].filter(({ address }) =>
      record.marked?.includes(address),
    );
    const reasons = await Promise.all(places.map(unseenReason));
    return places.flatMap(({ address }, at) => {
      const reason = reasons[at] ?? null;
      return reason === null ? [] : [{ address, reason }];
    });
  }

  return {
    placeOf: async (installId) => placeIn(await rootOf(installId), installId),
    rootOf,
    requireSeen,
    async claim(root) {
      await requireSeen(root);
      await mark(root);
    },
    acceptCurrent: async () => mark((await state()).record.current),

    beginMove: ({ address }) =>
      change((record) => ({
        ...record,
        unfinished: { ...record.unfinished, [address]: record.unfinished?.[address] ?? {} },
      })),
    endMove: ({ address }) =>
      change((record) => {
        const { [address]: _done, ...unfinished } = record.unfinished ?? {};
        return { ...record, unfinished };
      }),
    async noteDeletion(installId, backupId) {
      const { unfinished = {} } = (await state()).record;
      if (Object.keys(unfinished).length === 0) return;
      await change((record) => withDeletion(record, installId, backupId));
    },
    forgetDeletion: ({ address }, installId) =>
      change((record) => {
        const { [installId]: _done, ...others } = record.unfinished?.[address] ?? {};
        return { ...record, unfinished: { ...record.unfinished, [address]: others } };
      }),
    deletionsFor: async ({ address }) => (await state()).record.unfinished?.[address] ?? {},

    current: async () => (await state()).record.current,

    async report() {
      const { record, refused } = await state();
      return {
        current: record.current.address,
        since: record.since,
        configured: configured.address,
        refused,
        waiting: Object.keys(record.waiting),
        former: record.former.map(({ address }) => address),
        unseen: await unseenOf(record),
        isOnOwnDisk: await isOnDiskOf(record.current, dirname(file)),
      };
    },

    async isSettling() {
      const { since } = (await state()).record;
      return since !== null && Date.parse(since) > clock.now().getTime() - SETTLING_MS;
    },

    switchTo: (target, staying) =>
      change((record) => {
        const { current, waiting } = record;
        const old = staying.map((id): [string, string] => [id, waiting[id] ?? current.address]);
        const places = [...Object.entries(waiting), ...old].filter(([, at]) => at !== target.address);
        const isSame = current.address === target.address;
        return {
          ...record,
          // The setting that the operator has accepted, or that the move replaces.
          setting: configured.address,
          current: target,
          since: isSame ? record.since : timestamp(clock),
          waiting: Object.fromEntries(places),
          former: withRoot(
            record.former.filter(({ address }) => address !== target.address),
            isSame ? null : current,
          ),
        };
      }),

    moved: (installId) =>
      change((record) => {
        const { [installId]: _done, ...waiting } = record.waiting;
        return { ...record, waiting };
      }),

    former: async () => (await state()).record.former,
    async keyOf(address) {
      const { record } = await state();
      return rootsOf(record).find((one) => one.address === address)?.credentials ?? null;
    },
    addFormer: (place) => change((record) => ({ ...record, former: withRoot(record.former, place) })),
    forgetFormer: (address) =>
      change((record) => ({
        ...record,
        former: record.former.filter((one) => one.address !== address),
        ...(record.marked && { marked: record.marked.filter((one) => one !== address) }),
      })),
  };
}

/** Whether a place is a folder on the disk of another folder. */
async function isOnDiskOf({ address, credentials }: RepositoryRoot, folder: string): Promise<boolean> {
  if (credentials !== null) return false;
  const [one, other] = await Promise.all([ifThere(stat(address)), stat(folder)]);
  // A missing folder is made on the disk of the one above it, which is as good a guess as any.
  return one === null || one.dev === other.dev;
}
