import type { Static } from 'typebox';
import { type Caller, OPERATOR } from '../../../access/caller.ts';
import { authorize } from '../../../access/permissions.ts';
import { changeFor, readFor } from '../../../access/request-transactions.ts';
import type { Queries, Transaction } from '../../../database/database.ts';
import { lockRow } from '../../../database/lock.ts';
import { effectivePhp, faultsOfLimits, mostWorkers } from '../../../hosting/policy/php-limits.ts';
import { Conflict, type Fault, InvalidRequest, NotFound } from '../../../lib/failures.ts';
import type { PhpBounds, PhpLimit, PhpLimits, PhpSettings } from '../../../lib/php-limits.ts';
import type { Actor } from '../../../platform/activity-log.ts';
import type { Platform } from '../../../platform/platform.ts';
import type { CapabilityReader } from '../../hosts/capabilities.ts';
import { findHost } from '../../hosts/store.ts';
import { takeTurn } from '../installs/operation-limits.ts';
import { offeredPhp } from '../installs/php-switch.ts';
import { lockNamed, requireNamed, type Website } from '../installs/requested-website.ts';
import { findInstallAccess } from '../installs/store.ts';
import { findWebsite } from '../installs/website-store.ts';
import { restartPhp, updatePhpLimits } from './jobs.ts';
import { findPhpLimits, withChange } from './limits-store.ts';
import { PHP_LIMIT_NAMES, type phpSchema, type phpSettingsSchema, type updatePhpSchema } from './schema.ts';

/** The resource that faults of a request name. */
export const PHP = 'Php';

export type PhpView = Static<typeof phpSchema>;
export type PhpChange = Static<typeof updatePhpSchema>;
type LimitName = (typeof PHP_LIMIT_NAMES)[number];

const NAMES: Record<PhpLimit, LimitName> = {
  memoryMb: 'memory_limit',
  uploadMb: 'upload_max_filesize',
  seconds: 'max_execution_time',
  workers: 'workers',
  inputVars: 'max_input_vars',
};

export type PhpService = ReturnType<typeof createPhpService>;

/** The version and the limits of PHP of installs. `embedded`: what the embedded host allows; null with Linux hosts, which report it. */
export function createPhpService(
  { database, queue, activity, clock }: Pick<Platform, 'database' | 'queue' | 'activity' | 'clock'>,
  capabilities: Pick<CapabilityReader, 'of' | 'require'>,
  embedded: PhpBounds | null,
) {
  /** The limits that the host of an install allows; null if it has none, and until it has reported them. */
  async function reportedBounds(queries: Queries, install: Website): Promise<PhpBounds | null> {
    if (embedded !== null) {
      const { available } = await capabilities.of(queries, install, 'php_limits');
      return available ? embedded : null;
    }
    const { host_id } = install;
    const host = host_id === null ? undefined : await findHost(queries, { id: host_id });
    return host?.description?.php ?? null;
  }

  /** Throws CapabilityUnavailable if its host has no limits of PHP. */
  async function boundsOf(queries: Queries, install: Website): Promise<PhpBounds> {
    await capabilities.require(queries, install, 'php_limits');
    const bounds = await reportedBounds(queries, install);
    if (bounds === null) throw new Error('a host with limits of PHP has not reported them');
    return bounds;
  }

  async function viewOf(queries: Queries, install: Website): Promise<PhpView> {
    const bounds = await reportedBounds(queries, install);
    const versions = await offeredPhp(queries, install);
    if (bounds === null) {
      const version = install.php_version;
      return { version, versions, limits: null, custom: [], defaults: null, maximums: null };
    }
    const limits = await findPhpLimits(queries, install.id);
    const effective = effectivePhp(bounds, limits);
    const custom = PHP_LIMITS.filter((limit) => (limits?.[limit] ?? null) !== null);
    return {
      version: install.php_version,
      versions,
      limits: present(effective),
      custom: custom.map((limit) => NAMES[limit]),
      defaults: present(effectivePhp(bounds, null)),
      maximums: present({ ...bounds.most, workers: mostWorkers(bounds, effective.memoryMb) }),
    };
  }

  /** Requests a change for a locked install. Null if it changes nothing. */
  async function request(
    transaction: Transaction,
    actor: Actor,
    install: Website,
    asked: PhpChange,
  ): Promise<string | null> {
    const { queries } = transaction;
    const { id, name, account_id, status } = install;
    if (status !== 'active') {
      throw new Conflict(`The install is ${status}; only the PHP of an active one can be changed.`);
    }
    const change = readChange(asked);
    if (Object.keys(change).length === 0) return null;
    const bounds = await boundsOf(queries, install);
    const present = withChange(await findPhpLimits(queries, id), {});
    const wanted = withChange(present, change);
    // The host lowers a limit above a maximum that the operator has lowered since. It must not keep users from changing another.
    const faults = faultsOfLimits(bounds, wanted)
      .filter(({ limit }) => limit in change || (limit === 'workers' && 'memoryMb' in change))
      .map(({ limit, least, most }) => outOfRange(limit, least, most, wanted));
    if (faults.length > 0) throw new InvalidRequest('Bad request - invalid parameters', faults);
    if (PHP_LIMITS.every((limit) => wanted[limit] === present[limit])) return null;
    const jobId = await queue.enqueue(transaction, updatePhpLimits, {
      payload: { id, change },
      lane: id,
      requestId: actor.origin.requestId,
    });
    await activity.record(transaction, actor, account_id, {
      action: 'install.update_php_limits',
      subject: { id, name },
      installId: id,
      details: Object.fromEntries(
        PHP_LIMIT_NAMES.flatMap((field) => (asked[field] === undefined ? [] : [[field, asked[field]]])),
      ),
    });
    return jobId;
  }

  /** Requests a restart for a locked install. */
  async function requestRestart(transaction: Transaction, actor: Actor, install: Website): Promise<string> {
    const { id, name, account_id, status, php_version } = install;
    if (status !== 'active') {
      throw new Conflict(`The install is ${status}; only the PHP of an active one can be restarted.`);
    }
    if (php_version === null) throw new Conflict('The install runs no PHP.');
    const jobId = await queue.enqueue(transaction, restartPhp, {
      payload: { id },
      lane: id,
      requestId: actor.origin.requestId,
    });
    await activity.record(transaction, actor, account_id, {
      action: 'install.restart_php',
      subject: { id, name },
      installId: id,
    });
    return jobId;
  }

  async function requireWebsite(queries: Queries, id: string): Promise<Website> {
    const install = await findWebsite(queries, { id });
    if (!install) throw new NotFound();
    return install;
  }

  return {
    /** Throws NotFound. */
    get: (caller: Caller, id: string): Promise<PhpView> =>
      readFor(database, caller, async (reader) => {
        authorize('install.read', 'install.read', await findInstallAccess(reader, caller, id));
        return viewOf(reader, await requireWebsite(reader, id));
      }),

    /** Requests a change of the limits. Throws NotFound, Forbidden, InvalidRequest and Conflict. */
    update: (
      caller: Caller,
      id: string,
      change: PhpChange,
    ): Promise<{ operationId: string | null; view: PhpView }> =>
      changeFor(database, caller, async (transaction) => {
        const { queries } = transaction;
        await lockRow(transaction, 'installs', id);
        authorize('install.change', 'install.read', await findInstallAccess(queries, caller, id));
        const install = await requireWebsite(queries, id);
        const operationId = await request(transaction, caller, install, change);
        return { operationId, view: await viewOf(queries, install) };
      }),

    /** Requests a restart of PHP. Returns the operation's id. Throws NotFound, Forbidden, Conflict and RateLimited. */
    restart: (caller: Caller, id: string): Promise<string> =>
      changeFor(database, caller, async (transaction) => {
        const { queries } = transaction;
        await lockRow(transaction, 'installs', id);
        authorize('install.work', 'install.read', await findInstallAccess(queries, caller, id));
        const operationId = await requestRestart(transaction, caller, await requireWebsite(queries, id));
        // Each one costs the machine the start of a process, which other websites wait for.
        await takeTurn(transaction, id, 'restart_php', clock.now());
        return operationId;
      }),

    /** For the command line: by name. */
    restartAsOperator: (name: string): Promise<string> =>
      database.write(async (transaction) =>
        requestRestart(transaction, OPERATOR, await lockNamed(transaction, name)),
      ),
    getAsOperator: (name: string): Promise<PhpView> =>
      database.snapshot(async (reader) => viewOf(reader, await requireNamed(reader, name))),
    updateAsOperator: (
      name: string,
      change: PhpChange,
    ): Promise<{ jobId: string | null; installId: string }> =>
      database.write(async (transaction) => {
        const install = await lockNamed(transaction, name);
        return { jobId: await request(transaction, OPERATOR, install, change), installId: install.id };
      }),
  };
}

const PHP_LIMITS = ['memoryMb', 'uploadMb', 'seconds', 'workers', 'inputVars'] as const;

function present({
  memoryMb,
  uploadMb,
  seconds,
  workers,
  inputVars,
}: PhpSettings): Static<typeof phpSettingsSchema> {
  return {
    memory_limit: `${memoryMb}M`,
    upload_max_filesize: `${uploadMb}M`,
    max_execution_time: seconds,
    workers,
    max_input_vars: inputVars,
  };
}

/** MiB of a size as PHP writes it. */
function readSize(size: string | null): number | null {
  if (size === null) return null;
  return Number(size.slice(0, -1)) * (size.endsWith('G') ? 1_024 : 1);
}

function readChange(asked: PhpChange): Partial<PhpLimits> {
  const { memory_limit, upload_max_filesize, max_execution_time, workers, max_input_vars } = asked;
  return {
    ...(memory_limit === undefined ? {} : { memoryMb: readSize(memory_limit) }),
    ...(upload_max_filesize === undefined ? {} : { uploadMb: readSize(upload_max_filesize) }),
    ...(max_execution_time === undefined ? {} : { seconds: max_execution_time }),
    ...(workers === undefined ? {} : { workers }),
    ...(max_input_vars === undefined ? {} : { inputVars: max_input_vars }),
  };
}

function outOfRange(limit: PhpLimit, least: number, most: number, wanted: PhpLimits): Fault {
  const field = NAMES[limit];
  const unit = limit === 'memoryMb' || limit === 'uploadMb' ? 'M' : '';
  const because =
    limit === 'workers' && wanted.memoryMb !== null ? ` with ${wanted.memoryMb}M of memory_limit each` : '';
  const message = `${field} can be ${least}${unit} to ${most}${unit}${because}`;
  return { resource: PHP, field, type: 'invalid_value', code: 'out_of_range', message };
}
