import { type Caller, OPERATOR } from '../../../access/caller.ts';
import { authorize } from '../../../access/permissions.ts';
import { RATE_LIMITS, type RateCounter, rateLimitKey } from '../../../access/rate-limits.ts';
import { changeFor } from '../../../access/request-transactions.ts';
import type { Transaction } from '../../../database/database.ts';
import { lockRow } from '../../../database/lock.ts';
import type { InstallStatus } from '../../../database/tables/installs.ts';
import {
  ARGUMENT_PATTERN,
  LONGEST_ARGUMENT,
  MOST_ARGUMENT_BYTES,
  MOST_ARGUMENTS,
  type WpCliResult,
} from '../../../hosting/contract/wp-cli.ts';
import { inputRefusal } from '../../../hosting/policy/wp-cli-input.ts';
import { timestamp } from '../../../lib/clock.ts';
import { Conflict, InvalidRequest, invalidValue, NotFound, RateLimited } from '../../../lib/failures.ts';
import type { Actor } from '../../../platform/activity-log.ts';
import type { Platform } from '../../../platform/platform.ts';
import type { CapabilityReader } from '../../hosts/capabilities.ts';
import { lockNamed, type Website } from '../installs/requested-website.ts';
import { findInstallAccess } from '../installs/store.ts';
import { findWebsite } from '../installs/website-store.ts';
import { commandWords } from './command-words.ts';
import { runWpCli, wpCliLane } from './jobs.ts';
import { MOST_KEPT, readOutput } from './outputs.ts';
import { countUnended, insertRun, keepNewest } from './store.ts';

/** The resource that faults of a request name. */
export const RUN_WP_CLI = 'WpCli';

/** Commands of one install that wait or run. */
const MOST_UNENDED = 5;

const STATES: Record<Exclude<InstallStatus, 'active'>, string> = {
  pending: 'The install is still being created. Try again when its status is active.',
  failed: 'The install could not be created, so it has no WordPress. Delete it and create another one.',
};

export type WpCliService = ReturnType<typeof createWpCliService>;

/** Requests commands of WP-CLI. Arguments can be passwords: they are stored encrypted, and logs get the command's first words only. */
export function createWpCliService(
  platform: Pick<Platform, 'database' | 'queue' | 'activity' | 'clock' | 'random' | 'sealer'>,
  limiter: RateCounter,
  capabilities: Pick<CapabilityReader, 'require'>,
) {
  const { database, queue, activity, clock, random, sealer } = platform;

  /** Requests a command of a locked install. Returns the operation's id. */
  async function request(
    transaction: Transaction,
    actor: Actor,
    install: Website,
    args: readonly string[],
  ): Promise<string> {
    const { queries } = transaction;
    const { id, name, account_id, status } = install;
    if (status !== 'active') throw new Conflict(STATES[status]);
    await capabilities.require(queries, install, 'wp_cli');
    if ((await countUnended(queries, id)) >= MOST_UNENDED) {
      throw new Conflict(
        `${MOST_UNENDED} WP-CLI commands of the install wait or run. Try again when one has ended.`,
      );
    }
    const runId = random.uuid();
    const operationId = await queue.enqueue(transaction, runWpCli, {
      payload: { run_id: runId, install_id: id },
      lane: wpCliLane(id),
      install: id,
      requestId: actor.origin.requestId,
    });
    await keepNewest(queries, id, MOST_KEPT);
    await insertRun(queries, {
      id: runId,
      operation_id: operationId,
      install_id: id,
      sealed_args: sealer.seal(JSON.stringify(args)),
      created_at: timestamp(clock),
    });
    await activity.record(transaction, actor, account_id, {
      action: 'install.wp_cli',
      subject: { id, name },
      installId: id,
      details: { command: commandWords(args) },
    });
    return operationId;
  }

  async function spend(userId: string): Promise<void> {
    const { size, windowSeconds } = RATE_LIMITS.wpCli;
    const count = await limiter.spend(rateLimitKey(RATE_LIMITS.wpCli, userId), size, windowSeconds);
    if (!count.allowed) throw new RateLimited(count.resetSeconds);
  }

  return {
    /** Runs a command. Returns the operation's id. Throws NotFound, Forbidden, InvalidRequest, Conflict and RateLimited. */
    async run(caller: Caller, installId: string, args: readonly string[]): Promise<string> {
      authorize('install.work', 'install.read', await findInstallAccess(database.reader, caller, installId));
      requireShort(args);
      requireNoInput(args);
      await spend(caller.userId);
      return changeFor(database, caller, async (transaction) => {
        await lockRow(transaction, 'installs', installId);
        const access = await findInstallAccess(transaction.queries, caller, installId);
        authorize('install.work', 'install.read', access);
        const install = await findWebsite(transaction.queries, { id: installId });
        if (!install) throw new NotFound();
        return request(transaction, caller, install, args);
      });
    },

    /** For the command line: by name. Throws InvalidRequest and Conflict. */
    async runAsOperator(
      name: string,
      args: readonly string[],
    ): Promise<{ jobId: string; installId: string }> {
      requireValid(args);
      return database.write(async (transaction) => {
        const install = await lockNamed(transaction, name);
        return { jobId: await request(transaction, OPERATOR, install, args), installId: install.id };
      });
    },

    /** The result of an ended command; null if it is not kept any more. */
    resultOf: (operationId: string): Promise<WpCliResult | null> =>
      readOutput(database.reader, sealer, operationId),
  };
}

function requireShort(args: readonly string[]): void {
  const bytes = args.reduce((sum, argument) => sum + Buffer.byteLength(argument) + 1, 0);
  if (bytes <= MOST_ARGUMENT_BYTES) return;
  const message = `The arguments have ${bytes} bytes together; at most ${MOST_ARGUMENT_BYTES} are allowed`;
  throw invalidValue(RUN_WP_CLI, 'args', 'too_long', message);
}

function requireNoInput(args: readonly string[]): void {
  const reason = inputRefusal(args);
  if (reason !== null) throw invalidValue(RUN_WP_CLI, 'args', 'not_applicable', reason);
}

/** The API's schema checks requests; the command line has none. */
function requireValid(args: readonly string[]): void {
  if (args.length === 0) throw new InvalidRequest('Name the command of WP-CLI, such as "plugin list".');
  if (args.length > MOST_ARGUMENTS) {
    throw new InvalidRequest(`A command has at most ${MOST_ARGUMENTS} arguments.`);
  }
  if (args.some((argument) => argument.length > LONGEST_ARGUMENT)) {
    throw new InvalidRequest(`An argument has at most ${LONGEST_ARGUMENT} characters.`);
  }
  const pattern = new RegExp(ARGUMENT_PATTERN);
  if (!args.every((argument) => pattern.test(argument))) {
    throw new InvalidRequest('An argument cannot contain a NUL.');
  }
  requireShort(args);
  requireNoInput(args);
}
