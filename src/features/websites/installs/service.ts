import { type Caller, OPERATOR } from '../../../access/caller.ts';
import { findMembership, loadScope } from '../../../access/memberships.ts';
import { authorize, isAllowed } from '../../../access/permissions.ts';
import { changeFor } from '../../../access/request-transactions.ts';
import type { Queries, Transaction } from '../../../database/database.ts';
import { lockHostNames, lockRow } from '../../../database/lock.ts';
import type { Environment } from '../../../database/tables/installs.ts';
import { uniqueViolation } from '../../../database/unique-violation.ts';
import type { EmbeddedPhp } from '../../../hosting/contract/embedded-wordpress.ts';
import type { Runtime } from '../../../hosting/contract/install-state.ts';
import { timestamp } from '../../../lib/clock.ts';
import { allDone } from '../../../lib/concurrency.ts';
import { defaultDomain } from '../../../lib/default-domain.ts';
import { Forbidden, notPermitted, taken } from '../../../lib/failures.ts';
import { FaultCollection } from '../../../lib/fault-collection.ts';
import type { WithOperation } from '../../../lib/operation.ts';
import type { PlacedPage, SortedRequest } from '../../../lib/page.ts';
import type { Actor } from '../../../platform/activity-log.ts';
import type { Platform } from '../../../platform/platform.ts';
import type { CapabilityReader } from '../../hosts/capabilities.ts';
import type { HeldWordPress } from '../../hosts/held-wordpress.ts';
import { createApplyAgain } from './apply-again.ts';
import { createCoreSwitch } from './core-switch.ts';
import type { DeleteInstalls } from './deletion.ts';
import { columnsOfSettings, type InstallSettings, readSettings } from './fields.ts';
import { applyInstall, provisionInstall } from './jobs.ts';
import { isKeptByOthers } from './kept-names-store.ts';
import { countInstalls, type InstallFilters, type InstallSort, pageOfInstalls } from './list-store.ts';
import { type AskForWordPress, createOfferedOptions } from './offered-options.ts';
import { createPhpSwitch } from './php-switch.ts';
import type { Website } from './requested-website.ts';
import { createInstallSchema } from './schema.ts';
import {
  addToInstallCount,
  findInstallAccess,
  findSettings,
  findSiteOfAccount,
  type InstallView,
  insertDefaultDomain,
  insertInstall,
  isSlotTaken,
  prepareFindInstall,
  updateInstall,
} from './store.ts';
import { findWebsite } from './website-store.ts';

export interface NewInstall {
  name: string;
  account_id: string;
  site_id?: string | null;
  environment?: Environment | null;
  /** `major.minor`, one that a host offers. Null or omitted: the newest. */
  php_version?: string | null;
  /** Null or omitted: the default of the platform. */
  runtime?: Runtime | null;
}

export interface InstallChange extends InstallSettings {
  site_id?: string | null;
  environment?: Environment | null;
  /** `major.minor`, one that the install's host offers. */
  php_version?: string;
}

export type InstallService = ReturnType<typeof createInstallService>;

/** Work in the transaction that creates an install. Returns the operation that was asked for, if it is another one. */
type AlsoCreate = (transaction: Transaction, install: { id: string; name: string }) => Promise<string | null>;

/**
 * Prepares further settings of a new install in an environment. The returned function stores them in the transaction that creates the
 * install.
 */
export type PrepareInstall = (
  environment: Environment | null,
) => Promise<(queries: Queries, installId: string) => Promise<void>>;

export function createInstallService(
  platform: Platform,
  deleteInstalls: DeleteInstalls,
  prepareInstall: PrepareInstall,
  wordpressHere: AskForWordPress,
  capabilities: Pick<CapabilityReader, 'require'>,
  heldWordPress: HeldWordPress,
) {
  const { config, database, queue, activity, clock, random } = platform;
  const findSeen = prepareFindInstall(database);
  const phpSwitch = createPhpSwitch(platform, capabilities);
  const { chooseRuntime, faultsOfOptions } = createOfferedOptions(platform, wordpressHere);

  /** The PHP that runs an install on the embedded host; null on a Linux host, without PHP, and while none can run. */
  async function runningPhp({ runtime }: Pick<Website, 'runtime'>): Promise<EmbeddedPhp | null> {
    if (config.host !== 'embedded' || runtime !== 'wordpress') return null;
    const here = await wordpressHere();
    return 'version' in here ? here : null;
  }

  /** The install, if the caller may see it. Throws NotFound. */
  async function get(caller: Caller, id: string): Promise<Readonly<InstallView>> {
    const seen = await findSeen(id, caller);
    authorize('install.read', 'install.read', seen);
    return seen.install;
  }

  async function list(
    caller: Caller,
    page: SortedRequest<InstallSort>,
    { account_id, ...filters }: InstallFilters & { account_id?: string },
  ): Promise<PlacedPage<InstallView>> {
    // In no snapshot, which would be two more statements on PostgreSQL: only the page names installs.
    const { reader } = database;
    const scope = await loadScope(reader, caller, account_id);
    if (scope.whole.length + scope.partial.length === 0) {
      return { count: 0, results: [], previous: null, next: null };
    }
    const count = await countInstalls(reader, scope, filters);
    return pageOfInstalls(reader, scope, page, filters, count);
  }

  /**
   * Creates an install and starts its provisioning. Returns it with the operation's id. `also` runs in the same transaction, and
   * names another operation as the one that was asked for.
   */
  async function create(
    caller: Caller,
    input: NewInstall,
    also: AlsoCreate = async () => null,
  ): Promise<WithOperation<InstallView>> {
    const isMember = async (queries: Queries, accountId: string) => {
      const member = await findMembership(queries, caller, accountId);
      if (member && !isAllowed('install.change', { role: member.role, own: false })) throw new Forbidden();
      return member !== undefined;
    };
    const { id, operationId } = await add(caller, input, isMember, also);
    return { ...(await get(caller, id)), operationId };
  }

  /** `mayAdd`: whether the account is one that the actor may create installs in. */
  async function add(
    actor: Actor,
    input: NewInstall,
    mayAdd: (queries: Queries, accountId: string) => Promise<boolean>,
    also: AlsoCreate,
  ): Promise<{ id: string; operationId: string }> {
    const { name, environment = null, php_version = null } = input;
    const runtime = await chooseRuntime(input.runtime ?? null);
    const account_id = input.account_id.toLowerCase();
    const site_id = input.site_id?.toLowerCase() ?? null;
    const notOffered = await faultsOfOptions(name, php_version, input.runtime ?? null, runtime);
    const storeSettings = await prepareInstall(environment);
    const id = random.uuid();
    const operationId = await changeFor(database, actor, async (transaction) => {
      const { queries } = transaction;
      const [isMember, isTaken] = await allDone([
        mayAdd(queries, account_id),
        isNameTaken(queries, name, account_id),
      ]);
      const faults = new FaultCollection(createInstallSchema, notOffered);
      await faults.from(() => requireMember(isMember));
      // Only members learn which names are taken.
      if (isMember) await faults.from(() => requireFreeName(name, isTaken));
      const site =
        isMember && site_id !== null
          ? await faults.from(() => requirePlace(transaction, { site_id, environment, account_id }))
          : undefined;
      faults.refuse();
      const created_at = timestamp(clock);
      const install = {
        id,
        account_id,
        site_id,
        environment,
        name,
        status: 'pending' as const,
        php_version,
        runtime,
        stable_ips: null,
        offload_file_name: `${random.bytes(4).toString('hex')}.filestore`,
        offload_file_content: random.bytes(8).toString('hex'),
        created_at,
      };
      const domain = {
        id: random.uuid(),
        install_id: id,
        name: defaultDomain(name, config.siteDomain),
        created_at,
      };
      // Sent together, in this order.
      const [, isKept, , , , jobId] = await allDone([
        insertInstall(queries, install),
        // Its deletion may have been committed after the check above.
        isKeptByOthers(queries, name, account_id),
        insertDefaultDomain(queries, domain),
        storeSettings(queries, id),
        addToInstallCount(queries, account_id, 1),
        queue.enqueue(transaction, provisionInstall, {
          payload: { id },
          lane: id,
          account: account_id,
          installName: name,
          requestId: actor.origin.requestId,
          result: { install_id: id },
        }),
        activity.record(transaction, actor, account_id, {
          action: 'install.create',
          subject: { id, name },
          installId: id,
          details: {
            site: site?.name ?? null,
            environment,
            ...(php_version === null ? {} : { php_version }),
            ...(input.runtime ? { runtime: input.runtime } : {}),
          },
        }),
      ]);
      if (isKept) throw nameTaken(name);
      return (await also(transaction, { id, name })) ?? jobId;
    }).catch((error: unknown) => {
      throw nameOrSlotTaken(error, name, environment);
    });
    return { id, operationId };
  }

  /** Returns the install with the id of the operation that a switch of PHP starts. */
  async function update(
    caller: Caller,
    id: string,
    change: InstallChange,
  ): Promise<InstallView & { operationId: string | null }> {
    const site_id = change.site_id?.toLowerCase() ?? change.site_id;
    const settings = readSettings(change, clock.now());
    let environment: Environment | null = null;
    let operationId: string | null = null;
    await changeFor(database, caller, async (transaction) => {
      const { queries } = transaction;
      await lockRow(transaction, 'installs', id);
      const install = await findInstallAccess(queries, caller, id);
      authorize('install.change', 'install.read', install);
      const site =
        typeof site_id === 'string' ? await requireSite(transaction, site_id, install.account_id) : null;
      // Environments are slots of a site.
      const present = site_id === null ? null : install.environment;
      environment = change.environment === undefined ? present : change.environment;
      const website = change.php_version === undefined ? undefined : await findWebsite(queries, { id });
      operationId =
        change.php_version === undefined || website === undefined
          ? null
          : (await phpSwitch.request(transaction, caller, website, change.php_version)).jobId;
      const isMoved = site_id !== undefined || change.environment !== undefined;
      if (!isMoved && Object.keys(settings).length === 0) return;
      const former = await findSettings(queries, id);
      await updateInstall(queries, id, {
        ...(site_id === undefined ? {} : { site_id }),
        ...columnsOfSettings(settings),
        environment,
      });
      const details = {
        ...(site_id === undefined || site_id === install.site_id ? {} : { site: site?.name ?? null }),
        ...(environment === install.environment ? {} : { environment }),
        ...changedIn(former, settings),
      };
      if (Object.keys(details).length === 0) return;
      // Websites for staging and development keep search engines away.
      if (environment !== install.environment) {
        await queue.enqueue(transaction, applyInstall, {
          payload: { id },
          lane: id,
          requestId: caller.origin.requestId,
        });
      }
      await activity.record(transaction, caller, install.account_id, {
        action: 'install.update',
        subject: { id, name: install.name },
        installId: id,
        details,
      });
    }).catch((error: unknown) => {
      throw nameOrSlotTaken(error, '', environment);
    });
    return { ...(await get(caller, id)), operationId };
  }

  async function remove(caller: Caller, id: string): Promise<void> {
    await changeFor(database, caller, async (transaction) => {
      await lockHostNames(transaction);
      await lockRow(transaction, 'installs', id);
      const install = await findInstallAccess(transaction.queries, caller, id);
      authorize('install.change', 'install.read', install);
      await deleteInstalls(transaction, [install], caller);
    });
  }

  return {
    get,
    list,
    create,
    /** For the command line: as `create`, in any account. */
    createAsOperator: (input: NewInstall, also: AlsoCreate) => add(OPERATOR, input, async () => true, also),
    update,
    remove,
    switchWordpress: createCoreSwitch(platform, capabilities, heldWordPress),
    switchPhp: phpSwitch.byName,
    /** The versions of PHP that the install's host offers, newest first, and what runs it. Throws NotFound. */
    async phpVersions(caller: Caller, id: string) {
      const { install, versions } = await phpSwitch.offered(caller, id);
      return { versions, running: await runningPhp(install) };
    },
    runningPhp,
    applyAgain: createApplyAgain(platform),
  };
}

/** The settings whose value has changed. */
const changedIn = (before: InstallSettings, after: InstallSettings) =>
  Object.fromEntries(Object.entries(after).filter(([name, value]) => value !== Reflect.get(before, name)));

function requireMember(isMember: boolean): void {
  if (!isMember) throw notPermitted('Installation', 'account_id', 'You have no access to this account');
}

/** Reports a taken name together with other faults. If two requests compete, the unique constraint decides. */
function requireFreeName(name: string, isTaken: boolean): void {
  if (isTaken) throw nameTaken(name);
}

async function isNameTaken(queries: Queries, name: string, accountId: string): Promise<boolean> {
  const [website, isKept] = await allDone([
    findWebsite(queries, { name }),
    isKeptByOthers(queries, name, accountId),
  ]);
  return website !== undefined || isKept;
}

const nameTaken = (name: string) =>
  taken('Installation', 'name', `The install name "${name}" is already taken`);

/** Requires a site of the install's own account, and locks it so that it still exists at the commit. */
async function requireSite(
  transaction: Transaction,
  siteId: string,
  accountId: string,
): Promise<{ name: string }> {
  await lockRow(transaction, 'sites', siteId);
  const site = await findSiteOfAccount(transaction.queries, siteId, accountId);
  if (!site) {
    throw notPermitted(
      'Installation',
      'site_id',
      'The site is not one that installs of this account may be in',
    );
  }
  return site;
}

/** Requires the site, and its slot to be free if the install is to fill one. */
async function requirePlace(
  transaction: Transaction,
  install: { site_id: string; environment: Environment | null; account_id: string },
): Promise<{ name: string }> {
  const { site_id, environment, account_id } = install;
  const site = await requireSite(transaction, site_id, account_id);
  if (environment !== null && (await isSlotTaken(transaction.queries, site_id, environment))) {
    throw slotTaken(environment);
  }
  return site;
}

const slotTaken = (environment: Environment | null) =>
  taken('Installation', 'environment', `The site already has an install in its ${environment} environment`);

function nameOrSlotTaken(error: unknown, name: string, environment: Environment | null): unknown {
  switch (uniqueViolation(error)) {
    case 'installs.name':
      return nameTaken(name);
    case 'installs.site_id, installs.environment':
      return slotTaken(environment);
    default:
      return error;
  }
}
