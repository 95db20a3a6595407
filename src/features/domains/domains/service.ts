import type { Caller } from '../../../access/caller.ts';
import { authorize, type Verb } from '../../../access/permissions.ts';
import { changeFor, readFor } from '../../../access/request-transactions.ts';
import type { Queries, Transaction } from '../../../database/database.ts';
import { lockHostNames, lockRow } from '../../../database/lock.ts';
import { uniqueViolation } from '../../../database/unique-violation.ts';
import { NotFound } from '../../../lib/failures.ts';
import { FaultCollection } from '../../../lib/fault-collection.ts';
import type { WithOperation } from '../../../lib/operation.ts';
import type { PageOf, PageRequest } from '../../../lib/page.ts';
import type { Platform } from '../../../platform/platform.ts';
import { createEdgeAddressBook } from '../../hosts/edge-address-book.ts';
import { applyInstall, type PrimaryChange } from '../../websites/installs/jobs.ts';
import { findInstallAccess } from '../../websites/installs/store.ts';
import { createNameAdder } from './add-names.ts';
import { changesBetween, NEW_NAME, recordDomain } from './domain-activity.ts';
import { type DomainNameFault, parseDomainName } from './domain-name.ts';
import { releaseNames } from './name-assignment.ts';
import { ownershipDomainOf } from './ownership.ts';
import { portalHostOf } from './portal-host.ts';
import { findTarget, isRedirect, redirect } from './redirects.ts';
import {
  requireFitAsTarget,
  requireFitForDeletion,
  requireFitForPrimary,
  requirePrimaryElsewhere,
} from './rules.ts';
import { domainChangeSchema, newDomainSchema, newDomainsSchema } from './schema.ts';
import { type DomainState, domainStates } from './states.ts';
import {
  type DomainRow,
  deleteDomain,
  domainsOf,
  findDomain,
  findPrimary,
  isRedirectTarget,
  pageOfDomains,
  setPrimary,
  setRedirect,
  setSecureAllUrls,
  someDomainsOf,
} from './store.ts';
import { type Verification, verificationsOf } from './verifications-store.ts';

/** A domain with the data of its install that the API shows. */
export interface DomainView extends DomainRow {
  install: { id: string; name: string };
  /** Addresses of the install's edge, for DNS names that cannot have a CNAME. */
  addresses: string[];
  /** The account's verification of the registrable domain; null before it begins. */
  verification: Verification | null;
}

export interface NewDomain {
  name: string;
  primary?: boolean;
  redirect_to?: string | null;
}

export interface DomainChange {
  primary?: boolean;
  redirect_to?: string | null;
  secure_all_urls?: boolean;
}

/** Retries when another request adds the same name at the same time. Several losses in a row are unlikely. */
const NAME_TRIES = 5;

export type DomainService = ReturnType<typeof createDomainService>;

export function createDomainService(platform: Platform) {
  const { config, database, queue, random } = platform;
  const edges = createEdgeAddressBook(config);
  const platformNames = { siteDomain: config.siteDomain, portalHost: portalHostOf(config) };
  const addNames = createNameAdder(platform, platformNames);

  async function visibleInstall(queries: Queries, caller: Caller, installId: string, verb: Verb) {
    const install = await findInstallAccess(queries, caller, installId);
    authorize(verb, 'install.read', install);
    return install;
  }

  async function list(caller: Caller, installId: string, page: PageRequest): Promise<PageOf<DomainView>> {
    return database.snapshot(async (reader) => {
      const install = await visibleInstall(reader, caller, installId, 'install.read');
      const { count, results } = await pageOfDomains(reader, installId, page);
      return { count, results: await viewsOf(reader, install, results) };
    });
  }

  /** Adds the data of the install and the verifications. */
  async function viewsOf(
    reader: Queries,
    install: { id: string; name: string; account_id: string },
    domains: readonly DomainRow[],
  ): Promise<DomainView[]> {
    const registrables = domains.map(({ name }) => ownershipDomainOf(name));
    const [addresses, verifications] = await Promise.all([
      edges.ofInstall(reader, install.id),
      verificationsOf(reader, install.account_id, registrables),
    ]);
    return domains.map((domain) => ({
      ...domain,
      install,
      addresses,
      verification: verifications.get(ownershipDomainOf(domain.name)) ?? null,
    }));
  }

  const get = (caller: Caller, installId: string, domainId: string): Promise<DomainView> =>
    readFor(database, caller, async (reader) => {
      const install = await visibleInstall(reader, caller, installId, 'install.read');
      const [view] = await viewsOf(reader, install, [await existing(reader, installId, domainId)]);
      if (view === undefined) throw new NotFound();
      return view;
    });

  /**
   * Changes an install's domains with the install locked, and applies the install in an operation. If `work` returns a change of the main
   * domain, a failure takes it back.
   */
  async function change(
    caller: Caller,
    installId: string,
    work: (transaction: Transaction, install: { account_id: string }) => Promise<PrimaryChange | undefined>,
  ): Promise<{ operationId: string }> {
    const attempt = () =>
      changeFor(database, caller, async (transaction) => {
        await lockHostNames(transaction);
        await lockRow(transaction, 'installs', installId);
        const install = await visibleInstall(transaction.queries, caller, installId, 'install.work');
        const primary = await work(transaction, install);
        const payload = { id: installId, ...(primary === undefined ? {} : { primary }) };
        const operationId = await queue.enqueue(transaction, applyInstall, {
          payload,
          lane: installId,
          requestId: caller.origin.requestId,
        });
        return { operationId };
      });
    for (let tried = 1; ; tried++) {
      try {
        return await attempt();
      } catch (error) {
        // Another install got the name at the same time. The next try sees it and adds a duplicate.
        if (tried === NAME_TRIES || uniqueViolation(error) !== 'domains.name') throw error;
      }
    }
  }

  /** Adds a domain. Returns it with the operation's id. */
  async function create(
    caller: Caller,
    installId: string,
    input: NewDomain,
  ): Promise<WithOperation<DomainView>> {
    const id = random.uuid();
    const { operationId } = await change(caller, installId, async (transaction, { account_id }) => {
      const { queries } = transaction;
      const faults = new FaultCollection(newDomainSchema);
      const [isAdded = false] = await addNames(
        transaction,
        { installId, accountId: account_id, requestId: caller.origin.requestId },
        [{ id, field: 'name', text: input.name }],
        faults,
      );
      if (isRedirect(input.redirect_to)) {
        const target = await findTarget(queries, installId, input.redirect_to);
        await faults.from(() =>
          isAdded ? redirect(queries, installId, id, target) : requireFitAsTarget(target),
        );
      }
      let primary: PrimaryChange | undefined;
      if (isAdded && input.primary === true) {
        await faults.from(async () => {
          primary = await makePrimary(queries, installId, id);
        });
      }
      faults.refuse();
      const added = await existing(queries, installId, id);
      await recordDomain(transaction, platform, caller, {
        accountId: account_id,
        action: 'domain.create',
        domain: added,
        details: changesBetween(NEW_NAME, added),
      });
      return primary;
    });
    return { ...(await get(caller, installId, id)), operationId };
  }

  /** Adds up to 20 names, all or none; redirects are given by name. Returns the domains with the operation's id. */
  async function createBulk(
    caller: Caller,
    installId: string,
    inputs: { name: string; redirect_to?: string | null }[],
  ): Promise<WithOperation<{ domains: DomainView[] }>> {
    const ids = inputs.map(() => random.uuid());
    const { operationId } = await change(caller, installId, async (transaction, { account_id }) => {
      const { queries } = transaction;
      const given = inputs.map(({ name }, index) => ({
        id: ids[index] ?? '',
        field: `domains.${index}.name`,
        text: name,
      }));
      const faults = new FaultCollection(newDomainsSchema);
      const receiver = { installId, accountId: account_id, requestId: caller.origin.requestId };
      const isAdded = await addNames(transaction, receiver, given, faults);
      const all = await domainsOf(queries, installId);
      const requested = new Set(inputs.map(({ name }) => writtenName(name)));
      for (const [index, { redirect_to }] of inputs.entries()) {
        if (!isRedirect(redirect_to)) continue;
        const wanted = writtenName(redirect_to);
        const named = all.find((domain) => domain.name === wanted);
        // The name was refused and already has a fault.
        if (!named && requested.has(wanted)) continue;
        // Read again, because this request may just have redirected it.
        const target = named && (await findDomain(queries, installId, named.id));
        const id = ids[index] ?? '';
        await faults.from(
          () => (isAdded[index] ? redirect(queries, installId, id, target) : requireFitAsTarget(target)),
          `domains.${index}.`,
        );
      }
      faults.refuse();
      for (const added of await someDomainsOf(queries, installId, ids)) {
        const details = changesBetween(NEW_NAME, added);
        await recordDomain(transaction, platform, caller, {
          accountId: account_id,
          action: 'domain.create',
          domain: added,
          details,
        });
      }
      return undefined;
    });
    const domains = await database.snapshot(async (reader) => {
      const install = await visibleInstall(reader, caller, installId, 'install.read');
      return viewsOf(reader, install, await someDomainsOf(reader, installId, ids));
    });
    return { domains, operationId };
  }

  async function makePrimary(
    queries: Queries,
    installId: string,
    domainId: string,
  ): Promise<PrimaryChange | undefined> {
    const domain = await existing(queries, installId, domainId);
    requireFitForPrimary(domain);
    if (domain.is_primary) return undefined;
    const from = (await findPrimary(queries, installId))?.id ?? null;
    await setPrimary(queries, installId, domainId);
    return { from, to: domainId };
  }

  async function update(
    caller: Caller,
    installId: string,
    domainId: string,
    wanted: DomainChange,
  ): Promise<DomainView> {
    await change(caller, installId, async (transaction, { account_id }) => {
      const { queries } = transaction;
      const domain = await existing(queries, installId, domainId);
      const { redirect_to } = wanted;
      const faults = new FaultCollection(domainChangeSchema);
      if (isRedirect(redirect_to)) {
        const target = await findTarget(queries, installId, redirect_to);
        await faults.from(() => redirect(queries, installId, domainId, target));
      } else if (redirect_to !== undefined) await setRedirect(queries, domainId, null);
      let primary: PrimaryChange | undefined;
      if (wanted.primary === true) {
        await faults.from(async () => {
          primary = await makePrimary(queries, installId, domainId);
        });
      }
      if (wanted.primary === false) await faults.from(() => requirePrimaryElsewhere(domain));
      faults.refuse();
      if (wanted.secure_all_urls !== undefined) {
        await setSecureAllUrls(queries, domainId, wanted.secure_all_urls);
      }
      const changes = changesBetween(domain, await existing(queries, installId, domainId));
      if (Object.keys(changes).length > 0) {
        await recordDomain(transaction, platform, caller, {
          accountId: account_id,
          action: 'domain.update',
          domain,
          details: changes,
        });
      }
      return primary;
    });
    return get(caller, installId, domainId);
  }

  async function remove(caller: Caller, installId: string, domainId: string): Promise<void> {
    await change(caller, installId, async (transaction, { account_id }) => {
      const { queries } = transaction;
      const domain = await existing(queries, installId, domainId);
      requireFitForDeletion(domain, await isRedirectTarget(queries, domainId));
      const deleted = await deleteDomain(queries, domainId);
      await recordDomain(transaction, platform, caller, {
        accountId: account_id,
        action: 'domain.delete',
        domain,
      });
      if (deleted.is_duplicate) return undefined;
      const { requestId } = caller.origin;
      await releaseNames(transaction, platform, account_id, [domain.name], { requestId, applied: installId });
      return undefined;
    });
  }

  /** The stored form of a name. Invalid names are normalised too, because a request may repeat them. */
  function writtenName(text: string): string {
    const parsed = parseDomainName(text, platformNames);
    return parsed.ok ? parsed.name : text.trim().toLowerCase();
  }

  /** The fault of a new name; undefined if it is valid. */
  function faultOfName(text: string): DomainNameFault | undefined {
    const parsed = parseDomainName(text, platformNames);
    return parsed.ok ? undefined : parsed.fault;
  }

  /** The details of each domain, oldest first. Throws NotFound. */
  const states = (caller: Caller, installId: string): Promise<DomainState[]> =>
    database.snapshot((reader) => domainStates(reader, caller, installId));

  return { list, get, create, createBulk, update, remove, faultOfName, states };
}

async function existing(queries: Queries, installId: string, domainId: string): Promise<DomainRow> {
  const domain = await findDomain(queries, installId, domainId);
  if (!domain) throw new NotFound();
  return domain;
}
