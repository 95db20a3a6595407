import { readFile } from 'node:fs/promises';
import type { Logger } from 'pino';
import Type, { type Static } from 'typebox';
import { Value } from 'typebox/value';
import { type Clock, timestamp } from '../../../lib/clock.ts';
import { serializeByKey } from '../../../lib/concurrency.ts';
import { writeDurably } from '../../../lib/durable-file.ts';
import { DAY_MS } from '../../../lib/durations.ts';
import { ifThere } from '../../../lib/if-there.ts';
import {
  type BackupPlacesReport,
  type RefusedPlace,
  refusedPlaceSentence,
} from '../../contract/backup-places.ts';
import { countSnapshots } from './count-snapshots.ts';
import { placeIn, type RepositoryPlace, type RepositoryRoot } from './repository-place.ts';
import type { S3Credentials } from './repository-storage.ts';

const root = Type.Object({
  address: Type.String(),
  credentials: Type.Union([
    Type.Null(),
    Type.Object({ accessKeyId: Type.String(), secretAccessKey: Type.String() }),
  ]),
});

/** The record of the host about the places of its backups, in a file that only root can read. */
const recordSchema = Type.Object({
  /** The place in the settings that this record follows or, after a move, replaces. */
  setting: Type.String(),
  /** The place of all repositories, except the waiting ones. */
  current: root,
  /** When the host switched to it; null if it never did. */
  since: Type.Union([Type.String(), Type.Null()]),
  /** Installs whose repository is not moved yet, each with the address of its place. */
  waiting: Type.Record(Type.String(), Type.String()),
  /** Earlier places. Their repositories stay until the operator has them deleted. */
  former: Type.Array(root),
});
type PlacesRecord = Static<typeof recordSchema>;

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
      const first = {
        setting: configured.address,
        current: configured,
        since: null,
        waiting: {},
        former: [],
      };
      await write(first);
      return { record: first, refused: null };
    }
    const record = parsed(text);
    if (configured.address === record.current.address) {
      // The credentials may be new.
      const followed = { ...record, setting: configured.address, current: configured };
      await write(followed);
      return { record: followed, refused: null };
    }
    if (configured.address === record.setting) return { record, refused: null };
    const held = await countSnapshots(record.current).catch((err: unknown) => {
      log.warn({ err }, 'could not read the place of the backups');
      return null;
    });
    if (held?.backups === 0 && Object.keys(record.waiting).length === 0) {
      const empty = { ...record, setting: configured.address, current: configured, since: null };
      await write(empty);
      return { record: empty, refused: null };
    }
    const refused = { address: configured.address, held };
    log.error(refusedPlaceSentence(record.current.address, refused));
    return { record, refused };
  }

  function parsed(text: string): PlacesRecord {
    try {
      return Value.Parse(recordSchema, JSON.parse(text));
    } catch (cause) {
      throw new Error(
        `The record of backup places is damaged. Restore ${file}, or delete it to use the place in the settings.`,
        { cause },
      );
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

  return {
    async placeOf(installId) {
      const { record } = await state();
      const address = record.waiting[installId];
      return placeIn(address === undefined ? record.current : rootAt(record, address), installId);
    },

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
      change((record) => ({ ...record, former: record.former.filter((one) => one.address !== address) })),
  };
}

function withRoot(roots: readonly RepositoryRoot[], added: RepositoryRoot | null): RepositoryRoot[] {
  if (added === null) return [...roots];
  return [...roots.filter(({ address }) => address !== added.address), added];
}
