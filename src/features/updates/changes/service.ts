import { Value } from 'typebox/value';
import { type Caller, OPERATOR } from '../../../access/caller.ts';
import { changeFor } from '../../../access/request-transactions.ts';
import type { Transaction } from '../../../database/database.ts';
import { type ItemChange, needsCheckpoint } from '../../../hosting/contract/wordpress-changes.ts';
import { Conflict, RateLimited } from '../../../lib/failures.ts';
import type { Actor } from '../../../platform/activity-log.ts';
import type { Platform } from '../../../platform/platform.ts';
import type { EnqueueBackup } from '../../backups/copy-target.ts';
import { changeWordPressItem } from '../../backups/jobs.ts';
import type { CapabilityReader } from '../../hosts/capabilities.ts';
import { lockNamed, lockWorkable, type Website } from '../../websites/installs/requested-website.ts';
import { findReading } from '../../websites/wordpress/store.ts';
import { refuseKnown } from './refuse-known.ts';
import {
  describeSource,
  type RequestedChange,
  type RequestedInstallation,
  readChange,
  readInstallation,
} from './requested-change.ts';
import { countUnfinishedChanges, findChangeResult } from './store.ts';
import { storedChange } from './stored-change.ts';

export { ITEM } from './requested-change.ts';

/** Changes of one install that wait or run. */
const MOST_UNFINISHED = 20;
const LOOK_AGAIN_SECONDS = 60;

export type ChangeService = ReturnType<typeof createChangeService>;

/** Requests changes of single plugins and themes. */
export function createChangeService(
  { database, queue, random, activity, sealer }: Platform,
  enqueueBackup: EnqueueBackup,
  capabilities: Pick<CapabilityReader, 'require'>,
) {
  /** Requests a change of a locked install, after a checkpoint if it needs one. Returns the operation's id. */
  async function enqueue(
    transaction: Transaction,
    actor: Actor,
    website: Website,
    change: ItemChange,
  ): Promise<string> {
    const { queries } = transaction;
    const { id, name, account_id, status } = website;
    if (status !== 'active') {
      throw new Conflict(`The install is ${status}; only an active one can be changed.`);
    }
    await capabilities.require(queries, website, 'wordpress_changes');
    if ((await countUnfinishedChanges(queries, id)) >= MOST_UNFINISHED) {
      throw new RateLimited(LOOK_AGAIN_SECONDS, `${MOST_UNFINISHED} changes of this install wait already`);
    }
    refuseKnown((await findReading(queries, id))?.reading, change);
    const checkpointId = needsCheckpoint(change) ? random.uuid() : null;
    if (checkpointId !== null) {
      await enqueueBackup(
        transaction,
        actor,
        { id, account_id },
        { id: checkpointId, description: descriptionOf(change), addresses: [], checkpoint: true },
      );
    }
    const jobId = await queue.enqueue(transaction, changeWordPressItem, {
      payload: {
        change_id: random.uuid(),
        install_id: id,
        sealed_change: sealer.seal(JSON.stringify(change)),
        ...(checkpointId === null ? {} : { checkpoint_id: checkpointId }),
      },
      lane: id,
      requestId: actor.origin.requestId,
    });
    await activity.record(transaction, actor, account_id, {
      action: 'install.change_wordpress',
      subject: { id, name },
      installId: id,
      details: detailsOf(change),
    });
    return jobId;
  }

  async function request(caller: Caller, installId: string, change: ItemChange): Promise<string> {
    return changeFor(database, caller, async (transaction) =>
      enqueue(transaction, caller, await lockWorkable(transaction, caller, installId), change),
    );
  }

  async function byName(name: string, change: ItemChange): Promise<{ jobId: string; installId: string }> {
    return database.write(async (transaction) => {
      const website = await lockNamed(transaction, name);
      return { jobId: await enqueue(transaction, OPERATOR, website, change), installId: website.id };
    });
  }

  return {
    /** Returns the operation's id. Throws NotFound, Forbidden, InvalidRequest, Conflict, RateLimited. */
    change: (caller: Caller, installId: string, wanted: RequestedChange) =>
      request(caller, installId, readChange(wanted)),

    /** Returns the operation's id. Throws NotFound, Forbidden, InvalidRequest, Conflict, RateLimited. */
    install: (caller: Caller, installId: string, wanted: RequestedInstallation) =>
      request(caller, installId, readInstallation(wanted)),

    /** For the command line: the result of a change that succeeded. */
    resultOf: (operationId: string) => findChangeResult(database.reader, operationId),

    /** Requests a failed change again. Returns the operation's id. Throws as `change`. */
    repeat: (caller: Caller, installId: string, sealedChange: string): Promise<string> => {
      const { keep = false, ...change } = Value.Parse(storedChange, JSON.parse(sealer.open(sealedChange)));
      return request(caller, installId, { ...change, keep });
    },

    /** For the command line: by name. Throws InvalidRequest, Conflict, RateLimited. */
    changeByName: async (name: string, wanted: RequestedChange) => byName(name, readChange(wanted)),

    /** For the command line: by name. Throws InvalidRequest, Conflict, RateLimited. */
    installByName: async (name: string, wanted: RequestedInstallation) =>
      byName(name, readInstallation(wanted)),
  };
}

function descriptionOf({ kind, source, status }: ItemChange): string {
  if (source !== null) return `Checkpoint before a ${kind} is installed`;
  return `Checkpoint before a ${kind} is ${status === 'deleted' ? 'deleted' : 'switched'}`;
}

function detailsOf({
  kind,
  id,
  source,
  status,
  autoUpdate,
  keep,
}: ItemChange): Record<string, string | boolean> {
  return {
    kind,
    item: (source === null ? (id ?? '') : describeSource(source)).slice(0, 200),
    ...(source === null ? {} : { installed: true }),
    ...(status === null ? {} : { status }),
    ...(autoUpdate === null ? {} : { auto_update: autoUpdate }),
    ...(keep ? { keep } : {}),
  };
}
