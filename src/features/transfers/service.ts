import type { Caller } from '../../access/caller.ts';
import { findMembership } from '../../access/memberships.ts';
import { authorize, isAllowed } from '../../access/permissions.ts';
import { RATE_LIMITS, type RateCounter } from '../../access/rate-limits.ts';
import { changeFor, readerFor } from '../../access/request-transactions.ts';
import type { Queries, Transaction } from '../../database/database.ts';
import { lockHostNames, lockRow } from '../../database/lock.ts';
import { uniqueViolation } from '../../database/unique-violation.ts';
import { timestamp } from '../../lib/clock.ts';
import { DAY_MS } from '../../lib/durations.ts';
import { Conflict, Forbidden, NotFound } from '../../lib/failures.ts';
import type { WithOperation } from '../../lib/operation.ts';
import type { PageOf, PageRequest } from '../../lib/page.ts';
import type { Role } from '../../lib/roles.ts';
import type { Platform } from '../../platform/platform.ts';
import { countMails } from '../identity/limits/mail-limits.ts';
import { holdInstallsOfSite } from '../websites/installs/store.ts';
import { findSite } from '../websites/sites/store.ts';
import { OFFER_DAYS, offerSite, transferLane, transferSite } from './jobs.ts';
import { tellOwners } from './news.ts';
import { findTransferredSite } from './ownership-store.ts';
import { MOST_OPEN, obstacleTo, readSchedule, unprocessable } from './rules.ts';
import type { TransferView, WantedTransfer } from './schema.ts';
import {
  changeTransfer,
  countOpenTransfers,
  findTransfer,
  hasOpenTransfer,
  insertTransfer,
  isOwner,
  pageOfTransfers,
  rolesOf,
  type TransferRow,
} from './store.ts';
import { viewOf } from './view.ts';

export type TransferService = ReturnType<typeof createTransferService>;

/** Transfers of sites between accounts (docs/api.md, Site transfers). */
export function createTransferService(platform: Platform, counter: RateCounter) {
  const { database, queue, activity, clock, random } = platform;
  const { reader } = database;

  /** The accounts whose transfers the caller may see, with the roles there. */
  async function readable(queries: Queries, caller: Caller): Promise<Map<string, Role>> {
    const roles = await rolesOf(queries, caller);
    return new Map([...roles].filter(([, role]) => isAllowed('transfer.read', { role, own: false })));
  }

  /** A transfer of the site that the caller may see. Throws NotFound; Forbidden if they see the site alone. */
  async function requireVisible(
    queries: Queries,
    caller: Caller,
    siteId: string,
    transferId: string,
  ): Promise<{ transfer: TransferRow; roles: Map<string, Role> }> {
    const transfer = await findTransfer(queries, transferId);
    if (!transfer || transfer.site_id !== siteId) throw new NotFound();
    const roles = await readable(queries, caller);
    if (roles.has(transfer.origin_account_id) || roles.has(transfer.destination_account_id)) {
      return { transfer, roles };
    }
    authorize('transfer.read', 'site.read', await findSite(queries, caller, siteId));
    throw new NotFound();
  }

  async function present(caller: Caller, transferId: string): Promise<TransferView> {
    const transfer = await findTransfer(reader, transferId);
    if (!transfer) throw new NotFound();
    return viewOf(transfer, await rolesOf(reader, caller));
  }

  /** Throws NotFound, Forbidden, Conflict, Unprocessable, RateLimited. Does not reveal whether the destination exists. */
  async function request(
    caller: Caller,
    siteId: string,
    wanted: WantedTransfer,
  ): Promise<WithOperation<TransferView>> {
    const destination = wanted.destination_account_id.toLowerCase();
    const counted = await countMails(
      counter,
      [[RATE_LIMITS.siteTransfers, caller.userId]],
      'Too many site transfers',
    );
    const id = random.uuid();
    const operationId = await changeFor(database, caller, async (transaction) => {
      const { queries } = transaction;
      await lockRow(transaction, 'sites', siteId);
      const site = await findSite(queries, caller, siteId);
      authorize('site.transfer', 'site.read', site);
      // An open invitation as owner gives no right to give the site away.
      if (!(await isOwner(queries, site.account_id, caller.userId))) throw new Forbidden();
      const now = clock.now();
      const scheduled = readSchedule(wanted.scheduled_time, now);
      const installs = await holdInstallsOfSite(transaction, siteId);
      await requireTransferable(transaction, site.account_id, siteId, destination, installs);
      const ownsBoth =
        (await findMembership(queries, caller, destination))?.role === 'owner' &&
        (await isOwner(queries, destination, caller.userId));
      const expires_at = timestamp(clock, OFFER_DAYS * DAY_MS);
      await insertTransfer(queries, {
        id,
        site_id: siteId,
        site_name: site.name,
        installs: installs.map(({ id: installId, name }) => ({ id: installId, name })),
        origin_account_id: site.account_id,
        destination_account_id: destination,
        status: ownsBoth && scheduled !== null ? 'scheduled' : 'pending',
        awaits_acceptance: !ownsBoth,
        requested_by: caller.userId,
        accepted_by: ownsBoth ? caller.userId : null,
        scheduled_time: scheduled,
        expires_at,
        created_at: timestamp(clock),
        updated_at: timestamp(clock),
      });
      const jobId = await queue.enqueue(transaction, transferSite, {
        payload: { transfer_id: id },
        lane: transferLane(id),
        account: site.account_id,
        delayMs: ownsBoth ? delayUntil(scheduled, now) : delayUntil(expires_at, now),
        requestId: caller.origin.requestId,
      });
      if (!ownsBoth) {
        await queue.enqueue(transaction, offerSite, {
          payload: { transfer_id: id },
          lane: null,
          account: site.account_id,
          requestId: caller.origin.requestId,
        });
      }
      await recordBoth(transaction, caller, id, 'site_transfer.request', {
        ...(scheduled === null ? {} : { scheduled_time: scheduled }),
      });
      return jobId;
    }).catch((error: unknown) => {
      counted.refused();
      throw uniqueViolation(error) === 'site_transfers.site_id' ? alreadyOpen() : error;
    });
    return { ...(await present(caller, id)), operationId };
  }

  async function requireTransferable(
    { queries }: Transaction,
    accountId: string,
    siteId: string,
    destination: string,
    installs: readonly { id: string }[],
  ): Promise<void> {
    if (destination === accountId) {
      throw unprocessable('destination_account_id', 'same_account', 'The site is in this account already');
    }
    if (await hasOpenTransfer(queries, siteId)) throw alreadyOpen();
    const site = await findTransferredSite(queries, siteId);
    const obstacle =
      site &&
      (await obstacleTo(
        queries,
        site,
        installs.map(({ id }) => id),
      ));
    if (obstacle) throw unprocessable('site_id', 'not_transferable', obstacle);
    if ((await countOpenTransfers(queries, accountId)) >= MOST_OPEN) {
      throw unprocessable(
        'site_id',
        'too_many',
        `The account has reached the limit of ${MOST_OPEN} open transfers. Cancel one that you no longer need`,
      );
    }
  }

  /**
   * Records an action in both accounts; an account that does not exist has no log. The log of an account that the caller is not in
   * names the caller, without address and credential.
   */
  async function recordBoth(
    transaction: Transaction,
    caller: Caller,
    transferId: string,
    action: 'site_transfer.request' | 'site_transfer.accept' | 'site_transfer.cancel',
    details: Record<string, string | boolean>,
  ): Promise<void> {
    const transfer = await findTransfer(transaction.queries, transferId);
    if (!transfer) return;
    const { site_id, site_name, origin_account_id, origin_name } = transfer;
    const roles = await rolesOf(transaction.queries, caller);
    const from = (accountId: string): Caller =>
      roles.has(accountId)
        ? caller
        : { ...caller, origin: { ...caller.origin, credentialId: null, address: null, requestId: null } };
    const change = { action, subject: { id: site_id, name: site_name } };
    await activity.record(transaction, from(origin_account_id), origin_account_id, {
      ...change,
      details: { ...details, destination_account: transfer.destination_account_id },
    });
    if (transfer.destination_name === null) return;
    await activity.record(
      transaction,
      from(transfer.destination_account_id),
      transfer.destination_account_id,
      {
        ...change,
        details: { ...details, from: origin_name },
      },
    );
  }

  return {
    request,

    /** Transfers from and to an account, oldest first. Throws NotFound, Forbidden. */
    async listOfAccount(caller: Caller, accountId: string, page: PageRequest): Promise<PageOf<TransferView>> {
      const member = await findMembership(reader, caller, accountId);
      authorize('transfer.read', 'account.read', { role: member?.role ?? null, own: false });
      const roles = await rolesOf(reader, caller);
      const { count, results } = await pageOfTransfers(reader, { accountId }, page);
      return { count, results: results.map((transfer) => viewOf(transfer, roles)) };
    },

    /**
     * Transfers of a site from or to an account of the caller, oldest first. The former account sees its transfer, too.
     * Throws NotFound, Forbidden.
     */
    async listOfSite(caller: Caller, siteId: string, page: PageRequest): Promise<PageOf<TransferView>> {
      const roles = await readable(reader, caller);
      const filter = { siteId, accountIds: [...roles.keys()] };
      const { count, results } = await pageOfTransfers(reader, filter, page);
      if (count === 0) authorize('transfer.read', 'site.read', await findSite(reader, caller, siteId));
      return { count, results: results.map((transfer) => viewOf(transfer, roles)) };
    },

    async get(caller: Caller, siteId: string, transferId: string): Promise<TransferView> {
      const { transfer, roles } = await requireVisible(
        readerFor(database, caller),
        caller,
        siteId,
        transferId,
      );
      return viewOf(transfer, roles);
    },

    /** Cancels a transfer for an owner of the origin, or declines it for one of the destination. Throws NotFound, Forbidden, Conflict. */
    async cancel(caller: Caller, siteId: string, transferId: string): Promise<void> {
      await changeFor(database, caller, async (transaction) => {
        const { queries } = transaction;
        await lockRow(transaction, 'sites', siteId);
        const { transfer, roles } = await requireVisible(queries, caller, siteId, transferId);
        const may = (accountId: string) =>
          isAllowed('site.transfer', { role: roles.get(accountId) ?? null, own: false });
        const cancels = may(transfer.origin_account_id);
        if (!cancels && !may(transfer.destination_account_id)) throw new Forbidden();
        const ended = await changeTransfer(queries, transferId, ['pending', 'scheduled'], {
          status: 'cancelled',
          updated_at: timestamp(clock),
        });
        if (!ended) throw new Conflict(`The transfer is ${transfer.status} and can no longer be cancelled`);
        await queue.cancelLane(transaction, transferLane(transferId));
        await recordBoth(transaction, caller, transferId, 'site_transfer.cancel', {
          ...(cancels ? {} : { declined: true }),
        });
        if (!cancels) await tellOwners(transaction, platform, transfer, { news: 'declined', to: 'origin' });
      });
    },

    /** Accepts a transfer for an owner of the destination. Throws NotFound, Forbidden, Conflict. */
    async accept(caller: Caller, accountId: string, transferId: string): Promise<TransferView> {
      await changeFor(database, caller, async (transaction) => {
        const { queries } = transaction;
        const member = await findMembership(queries, caller, accountId);
        const access = { role: member?.role ?? null, own: false };
        authorize('transfer.read', 'account.read', access);
        const asked = await findTransfer(queries, transferId);
        if (asked?.destination_account_id !== accountId) throw new NotFound();
        authorize('site.transfer', 'account.read', access);
        if (!(await isOwner(queries, accountId, caller.userId))) throw new Forbidden();
        // The same locks as the transfer itself, so that it sees the acceptance or this sees its end.
        await lockHostNames(transaction);
        await lockRow(transaction, 'sites', asked.site_id);
        const transfer = await findTransfer(queries, transferId);
        if (transfer?.status !== 'pending' || !transfer.awaits_acceptance) {
          throw new Conflict('The transfer no longer waits to be accepted');
        }
        const now = clock.now();
        const delayMs = delayUntil(transfer.scheduled_time, now);
        await changeTransfer(queries, transferId, ['pending'], {
          status: delayMs > 0 ? 'scheduled' : 'pending',
          awaits_acceptance: false,
          accepted_by: caller.userId,
          updated_at: timestamp(clock),
        });
        await queue.reschedule(transaction, transferLane(transferId), delayMs);
        await recordBoth(transaction, caller, transferId, 'site_transfer.accept', {});
      });
      return present(caller, transferId);
    },
  };
}

const alreadyOpen = () =>
  new Conflict('The site already has an open transfer. Cancel it before you request another one');

/** Milliseconds until a time; 0 if it has passed or there is none. */
const delayUntil = (time: string | null, now: Date): number =>
  time === null ? 0 : Math.max(0, Date.parse(time) - now.getTime());
