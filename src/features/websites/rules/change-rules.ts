import { isDeepStrictEqual } from 'node:util';
import { type Caller, OPERATOR } from '../../../access/caller.ts';
import { authorize } from '../../../access/permissions.ts';
import { changeFor, readerFor } from '../../../access/request-transactions.ts';
import type { Queries, Transaction } from '../../../database/database.ts';
import { lockRow } from '../../../database/lock.ts';
import type { Environment } from '../../../database/tables/installs.ts';
import { timestamp } from '../../../lib/clock.ts';
import type { Action, Actor } from '../../../platform/activity-log.ts';
import type { Platform } from '../../../platform/platform.ts';
import { applyInstall } from '../installs/jobs.ts';
import { requireNamed } from '../installs/requested-website.ts';
import { findInstallAccess } from '../installs/store.ts';
import { saveRules } from './store.ts';
import { loadRules, type StoredRules } from './stored-rules.ts';

/** An install whose rules someone reads or changes: a user who may work on it, or the operator who knows its name. */
export type RulesOf = { caller: Caller; installId: string } | { name: string };

export interface RuledInstall {
  id: string;
  name: string;
  account_id: string;
  environment: Environment | null;
}

export interface RulesChange<Result> {
  rules: StoredRules;
  /** For the activity log. */
  action: Action;
  details?: Record<string, string | number | boolean | null>;
  result: Result;
}

export type ChangeRules = ReturnType<typeof createRulesChange>;

/** Reads and changes the rules of installs. A change is applied by a job. */
export function createRulesChange({
  database,
  queue,
  clock,
  activity,
}: Pick<Platform, 'database' | 'queue' | 'clock' | 'activity'>) {
  async function read(of: RulesOf): Promise<{ install: RuledInstall; rules: StoredRules }> {
    const queries = 'caller' in of ? readerFor(database, of.caller) : database.reader;
    const install = await ruledInstall(queries, of);
    return { install, rules: await loadRules(queries, install.id) };
  }

  /**
   * Changes the rules of an install. `after` runs in the same transaction after a change. Returns the id of the operation that applies
   * it, null if everything stays as it was.
   */
  async function change<Result>(
    of: RulesOf,
    change: (
      rules: StoredRules,
      install: RuledInstall,
      transaction: Transaction,
    ) => RulesChange<Result> | Promise<RulesChange<Result>>,
    after?: (transaction: Transaction, install: RuledInstall) => Promise<void>,
  ): Promise<{ operationId: string | null; install: RuledInstall; result: Result; rules: StoredRules }> {
    const actor: Actor = 'caller' in of ? of.caller : OPERATOR;
    return changeFor(database, actor, async (transaction) => {
      const { queries } = transaction;
      if ('caller' in of) await lockRow(transaction, 'installs', of.installId);
      const install = await ruledInstall(queries, of);
      if ('name' in of) await lockRow(transaction, 'installs', install.id);
      const before = await loadRules(queries, install.id);
      const { rules, action, details, result } = await change(before, install, transaction);
      if (isDeepStrictEqual(before, rules)) return { operationId: null, install, result, rules };
      await saveRules(queries, install.id, rules, timestamp(clock));
      const operationId = await queue.enqueue(transaction, applyInstall, {
        payload: { id: install.id },
        lane: install.id,
        requestId: actor.origin.requestId,
      });
      await after?.(transaction, install);
      await activity.record(transaction, actor, install.account_id, {
        action,
        subject: { id: install.id, name: install.name },
        installId: install.id,
        ...(details && { details }),
      });
      return { operationId, install, result, rules };
    });
  }

  return { read, change };
}

async function ruledInstall(queries: Queries, of: RulesOf): Promise<RuledInstall> {
  if ('caller' in of) {
    const install = await findInstallAccess(queries, of.caller, of.installId);
    authorize('install.work', 'install.read', install);
    return install;
  }
  return requireNamed(queries, of.name);
}
