import { type Caller, OPERATOR } from '../../../access/caller.ts';
import { authorize } from '../../../access/permissions.ts';
import { changeFor, readerFor } from '../../../access/request-transactions.ts';
import type { Queries, Transaction } from '../../../database/database.ts';
import { lockRow } from '../../../database/lock.ts';
import type { InstallStatus } from '../../../database/tables/installs.ts';
import type { Host } from '../../../hosting/contract/host.ts';
import type { InstallRef } from '../../../hosting/contract/install-ref.ts';
import type { InstallMail } from '../../../hosting/contract/mail.ts';
import { Conflict, invalidValue, NotFound, UpstreamFailed } from '../../../lib/failures.ts';
import type { Actor } from '../../../platform/activity-log.ts';
import type { Platform } from '../../../platform/platform.ts';
import type { CapabilityReader } from '../../hosts/capabilities.ts';
import { applyInstall } from '../installs/jobs.ts';
import { lockNamed, requireNamed } from '../installs/requested-website.ts';
import { findInstallAccess, prepareFindInstall } from '../installs/store.ts';
import { allowedPerHour, limitPerHour } from './limits.ts';
import { findMailLimits, setMailLimits } from './store.ts';

/** The resource that faults of a request name. */
export const MAIL = 'InstallMail';

/** The mail of an install. */
export interface MailView extends InstallMail {
  /** The highest limit that the operator allows. */
  mostPerHour: number;
}

interface Website extends InstallRef {
  account_id: string;
  status: InstallStatus;
}

const STATES: Record<Exclude<InstallStatus, 'active'>, string> = {
  pending: 'The install is still being created. Try again when its status is active.',
  failed: 'The install could not be created, so it sends no mail. Delete it and create another one.',
};

export type MailService = ReturnType<typeof createMailService>;

/** `readMail` asks the host of an install. */
export function createMailService(
  platform: Pick<Platform, 'config' | 'database' | 'queue' | 'activity' | 'log'>,
  readMail: Host['readMail'],
  capabilities: Pick<CapabilityReader, 'requireOf'>,
) {
  const { config, database, queue, activity, log } = platform;
  const findSeen = prepareFindInstall(database);

  /** Asks the host before anything is written: it can take seconds, which no transaction should wait for. */
  async function countsOf(
    { id, name, status }: Website,
    queries: Queries = database.reader,
  ): Promise<InstallMail> {
    if (status !== 'active') throw new Conflict(STATES[status]);
    await capabilities.requireOf(queries, id, 'mail_limits');
    const mail = await readMail({ id, name }).catch((err: unknown) => {
      log.warn({ err, install: id }, 'the host did not tell about the mail of an install');
      throw new UpstreamFailed('The host of the website did not answer. Try again in a minute.', err);
    });
    if ('refused' in mail) throw new Conflict(mail.reason);
    return mail;
  }

  /** Present limits count, even if the host does not know them yet. */
  async function view(
    install: Website,
    counts: InstallMail,
    queries: Queries = database.reader,
  ): Promise<MailView> {
    const limits = await findMailLimits(queries, install.id);
    if (limits === undefined) throw new NotFound();
    return {
      ...counts,
      limitPerHour: limitPerHour(limits, config),
      mostPerHour: allowedPerHour(limits, config),
    };
  }

  async function apply(transaction: Transaction, actor: Actor, install: Website): Promise<string> {
    const limits = await findMailLimits(transaction.queries, install.id);
    await activity.record(transaction, actor, install.account_id, {
      action: 'install.update_mail',
      subject: { id: install.id, name: install.name },
      installId: install.id,
      details: limits === undefined ? {} : { limit_per_hour: limitPerHour(limits, config) },
    });
    return queue.enqueue(transaction, applyInstall, {
      payload: { id: install.id },
      lane: install.id,
      requestId: actor.origin.requestId,
    });
  }

  return {
    /** Throws NotFound, Conflict, UpstreamFailed. */
    async get(caller: Caller, installId: string): Promise<MailView> {
      const seen = await findSeen(installId, caller);
      authorize('install.work', 'install.read', seen);
      const queries = readerFor(database, caller);
      return view(seen.install, await countsOf(seen.install, queries), queries);
    },

    /** Sets the limit of the customer; null for none. Throws as {@link get}, and InvalidRequest above the operator's. */
    async limit(
      caller: Caller,
      installId: string,
      wanted: number | null,
    ): Promise<MailView & { operationId: string }> {
      const seen = await findSeen(installId, caller);
      authorize('install.work', 'install.read', seen);
      const counts = await countsOf(seen.install);
      const operationId = await changeFor(database, caller, async (transaction) => {
        const { queries } = transaction;
        await lockRow(transaction, 'installs', installId);
        authorize('install.work', 'install.read', await findInstallAccess(queries, caller, installId));
        const limits = await findMailLimits(queries, installId);
        if (limits === undefined) throw new NotFound();
        const most = allowedPerHour(limits, config);
        if (wanted !== null && wanted > most) {
          const message = `limit_per_hour can be at most ${most}; ask your provider to raise it`;
          throw invalidValue(MAIL, 'limit_per_hour', 'too_large', message);
        }
        await setMailLimits(queries, installId, { mail_limit: wanted });
        return apply(transaction, caller, seen.install);
      });
      return { ...(await view(seen.install, counts)), operationId };
    },

    /** For the command line. Throws InvalidRequest for an unknown install, and as {@link get}. */
    async getAsOperator(name: string): Promise<MailView> {
      const website = await requireNamed(database.reader, name);
      return view(website, await countsOf(website));
    },

    /** For the command line: sets what the operator allows an install; null for the setting. Returns the job's id. */
    async allow(name: string, allowance: number | null): Promise<string> {
      return database.write(async (transaction) => {
        const website = await lockNamed(transaction, name);
        await capabilities.requireOf(transaction.queries, website.id, 'mail_limits');
        await setMailLimits(transaction.queries, website.id, { mail_allowance: allowance });
        return apply(transaction, OPERATOR, website);
      });
    },
  };
}
