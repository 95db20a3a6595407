import { messageOf } from '../../../lib/error-message.ts';
import type { Difference } from '../../contract/host.ts';
import { checkHome } from '../isolation/folders.ts';
import type { SandboxedInstall } from '../isolation/sandbox.ts';
import type { InstallRecord } from '../machine/record.ts';
import { hasStaleHome } from '../php/stale-home.ts';
import { addressOf, cgroupOf, phpDaemon, redisDaemon, type Website } from '../websites/provisioning.ts';
import type { JudgedData } from '../websites/website-losses.ts';
import { foreignEntry, takeOwnership } from '../wordpress/permissions.ts';
import { inspectData, inspectUploads, lossDifferences } from './data.ts';
import { checked, type Fault, faults, notRunning, toDifferences } from './finding.ts';
import type { InspectedHost } from './inspected-host.ts';
import { checkPages } from './pages.ts';
import { checkObjectCache } from './php.ts';

/**
 * Inspects everything of an install that has a record, while the install is locked. `canAskDatabases`: whether the database
 * server answers; if it does not, that is reported once for all installs. `hasProject`: whether its files are known to have a project quota.
 */
export async function inspectInstall(
  host: InspectedHost,
  record: InstallRecord,
  {
    isRepairing,
    canAskDatabases,
    hasProject,
  }: { isRepairing: boolean; canAskDatabases: boolean; hasProject: boolean },
): Promise<Difference[]> {
  const { id, name } = record.state;
  const differences: Difference[] = [];
  /** False if a fault remains that was not repaired. A repair counts if the same check then finds nothing. */
  async function inspect(part: string, check: () => Promise<Fault[]>, isProved = false): Promise<boolean> {
    const thing = `install ${name}: ${part}`;
    const found = await toDifferences(await checked(thing, check), isRepairing);
    const isRepaired = found.some(({ mended }) => mended === true);
    const left = isRepaired && !isProved ? await checked(thing, check) : [];
    differences.push(...found.map((difference) => provedBy(left, difference)));
    return left.length === 0 && found.every((difference) => difference.mended === true);
  }

  await inspect('limits', () => checkLimits(host, id));
  // First, because the repairs below create folders.
  const data = canAskDatabases ? await inspectData(host, record) : null;
  if (canAskDatabases) await inspect('database', () => checkDatabase(host, record));
  await inspect('web server', () => checkServed(host, record));
  const found = await findPhp(host, record);
  if ('fault' in found) {
    await inspect('php', async () => [found.fault]);
    return differences;
  }
  const { website } = found;
  await inspect('php version', async () => checkPhpVersion(website, record));
  await inspect('object cache', async () => checkObjectCache(website.php, name));
  // The rest is created for this user: with a wrong user id, it would belong to another user.
  if (!(await inspect('unix user', () => checkUser(host, website, record)))) return differences;
  const sandbox = await host.steps.sandboxOf(website);
  if (await inspect('folders', () => checkFolders(host, website, sandbox))) {
    await inspect('owners', () => checkOwners(host, sandbox));
    await inspect('disk quota', () => checkQuota(host, sandbox, hasProject));
    await inspect('files', () => checkFiles(host, website, sandbox));
  }
  const { daemons, steps } = host;
  await inspect('redis', async () =>
    notRunning(await daemons.list(), redisDaemon(id), () => steps.startRedis(website)),
  );
  await inspect('php', () => checkPhp(host, website));
  await inspect('purge socket', () => checkPurgeSocket(host, website));
  await inspect('mail socket', () => checkMailSocket(host, website));
  await inspect('start', async () => checkLive(host, record));
  // Without databases, no page works, and that is reported for all of them.
  if (data === null || (await inspectLosses(data))) return differences;
  const isSeen = await inspect('pages', () => checkPages(host, website, sandbox), true);
  return isSeen ? differences : differences.map((difference) => unproved(name, difference));

  /** Whether the website is closed to visitors, or would be by a repair. */
  async function inspectLosses(found: JudgedData): Promise<boolean> {
    const { restorablePrefix, losses } = found;
    if (restorablePrefix !== null) {
      const message = `wp-config.php is missing. The tables begin with "${restorablePrefix}". Other settings of the former file are only in backups.`;
      const repair = () => host.websites.rewriteConfig(sandbox, restorablePrefix);
      await inspect('data', async () => {
        const present = await inspectData(host, record);
        return present.losses.length === 0 ? [] : faults([message], repair);
      });
    }
    const present = isRepairing ? await host.settle(await current(host, record)) : record;
    const isClosed = present.placement.lost !== undefined;
    const closing = losses.some(({ closes }) => closes);
    if (!isRepairing && isClosed && !closing) {
      const message = 'It is closed to visitors, although its data is back.';
      await inspect('data', async () => faults([message], async () => {}));
    }
    if (restorablePrefix === null) {
      const options = { isRepairing, isClosed };
      differences.push(...lossDifferences(record, losses, options));
      await inspect('data', async () => {
        differences.push(...lossDifferences(record, await inspectUploads(host, record, found), options));
        return [];
      });
    }
    if (isRepairing && isClosed) host.retryStart(present);
    return isClosed || (closing && !isRepairing);
  }
}

/** The record as the repairs left it. */
async function current({ records }: InspectedHost, record: InstallRecord): Promise<InstallRecord> {
  return (await records.read(record.state.id)) ?? record;
}

function provedBy(left: Fault[], difference: Difference): Difference {
  const [fault] = left;
  if (difference.mended !== true || fault === undefined) return difference;
  const message = `${difference.message} It was repaired, and then found again: ${fault.message}`;
  return { ...difference, message, mended: false, remedy: fault.remedy };
}

/** A repair of a website whose pages fail afterwards. */
function unproved(name: string, difference: Difference): Difference {
  if (difference.mended !== true || difference.thing === `install ${name}: pages`) return difference;
  const message = `${difference.message} It was repaired, but a page of the website still fails.`;
  return { ...difference, message, mended: false, remedy: 'See the pages of this install below.' };
}

async function checkLimits({ cgroups, limits }: InspectedHost, id: string): Promise<Fault[]> {
  // systemd limits the PHP that it runs by its own group, not by the host's.
  const held = new Set(await cgroups.list());
  const names = [cgroupOf(id), phpDaemon(id)].filter((name) => name !== phpDaemon(id) || held.has(name));
  const found = await Promise.all(
    names.map(async (name) =>
      faults([sentence(await cgroups.check(name, limits))], () => cgroups.set(name, limits)),
    ),
  );
  return found.flat();
}

async function checkDatabase({ databases }: InspectedHost, record: InstallRecord): Promise<Fault[]> {
  const { name } = record.state;
  const { database } = record.placement;
  switch (await databases.stateOf(database, name)) {
    case 'read-only':
      return [
        {
          message: `The database ${database} is larger than HOMEPORT_INSTALL_DISK_GB, so its user may only read and delete.`,
          repair: null,
          remedy: 'Delete rows or tables in it, or raise the limit.',
        },
      ];
    case 'inaccessible':
      return faults([`The user ${name} lacks rights on the database ${database}.`], () =>
        databases.create(database, name),
      );
    case 'whole':
      return [];
    // Data that is lost.
    case 'missing':
    case 'empty':
      return [];
  }
}

async function checkServed({ web }: InspectedHost, { state, placement }: InstallRecord): Promise<Fault[]> {
  const vhost = { state, ...placement };
  return faults([sentence(await web.checkWebsite(vhost))], () => web.put(vhost));
}

/** The website, or the reason why it cannot run here. */
async function findPhp(
  host: InspectedHost,
  record: InstallRecord,
): Promise<{ website: Website } | { fault: Fault }> {
  try {
    return { website: await host.websiteOf(record) };
  } catch (error) {
    const reason = messageOf(error);
    const remedy = `Install PHP ${record.placement.phpVersion} on the machine again.`;
    return { fault: { message: `It cannot run: ${reason}.`, repair: null, remedy } };
  }
}

/** An install whose PHP version is gone runs on another one. */
function checkPhpVersion({ php }: Website, { placement: { phpVersion } }: InstallRecord): Fault[] {
  if (php.version === phpVersion) return [];
  const message = `PHP ${phpVersion} is no longer on the machine, so it runs on PHP ${php.version}.`;
  return [{ message, repair: null, remedy: `Install PHP ${phpVersion} on the machine again.` }];
}

async function checkUser(
  { users, steps }: InspectedHost,
  website: Website,
  { placement: { uid, gid } }: InstallRecord,
): Promise<Fault[]> {
  const user = await users.find(website.id);
  if (user === null) {
    return faults(
      [`The user ${website.name} is missing.`],
      async () => void (await steps.sandboxOf(website)),
    );
  }
  if (user.uid === uid && user.gid === gid) {
    const message = `The group or the password line of ${website.name} is missing or differs.`;
    return faults(
      [(await users.isWhole(user)) ? null : message],
      async () => void (await steps.sandboxOf(website)),
    );
  }
  const message = `Its user has the ids ${user.uid}:${user.gid}, but its files belong to ${uid}:${gid}.`;
  return [{ message, repair: null, remedy: 'Give the user its old ids in /var/lib/extrausers.' }];
}

async function checkFolders(
  { layout, steps }: InspectedHost,
  website: Website,
  sandbox: SandboxedInstall,
): Promise<Fault[]> {
  return faults(await checkHome(layout, sandbox), () => steps.makeFolders(website));
}

async function checkFiles(
  { websites, steps }: InspectedHost,
  website: Website,
  sandbox: SandboxedInstall,
): Promise<Fault[]> {
  const site = { ...addressOf(website.state), database: website.database };
  return faults(await websites.checkFiles(sandbox, site), () => steps.repairFiles(website));
}

async function checkOwners({ layout }: InspectedHost, sandbox: SandboxedInstall): Promise<Fault[]> {
  const entry = await foreignEntry(layout, sandbox);
  if (entry === null) return [];
  const message = `htdocs/${entry} belongs to another user, so the website cannot use it.`;
  return faults([message], () => takeOwnership(layout, sandbox));
}

async function checkPhp({ layout, daemons, steps }: InspectedHost, website: Website): Promise<Fault[]> {
  const name = phpDaemon(website.id);
  const running = await daemons.list();
  const down = notRunning(running, name, () => steps.startPhp(website));
  const pid = running.find((daemon) => daemon.name === name)?.pid ?? null;
  if (down.length > 0 || pid === null) return down;
  const isStale = await hasStaleHome(pid, layout.homeOf(website.id));
  return faults([isStale ? 'It uses a home that was deleted or moved since it started.' : null], () =>
    daemons.restart(name),
  );
}

async function checkPurgeSocket({ purges, steps }: InspectedHost, website: Website): Promise<Fault[]> {
  if (await purges.isOpen(website.id)) return [];
  return faults(['The host does not listen for its purges.'], () => steps.listenForPurges(website));
}

async function checkMailSocket({ mailSockets, steps }: InspectedHost, website: Website): Promise<Fault[]> {
  if (await mailSockets.isOpen(website.id)) return [];
  return faults(['The host does not listen for its mail.'], () => steps.listenForMail(website));
}

/** Without this, a website that failed to start with the host would have no logins and no WP-Cron. */
function checkLive({ live, bringUp }: InspectedHost, record: InstallRecord): Fault[] {
  if (live.get(record.state.id) !== undefined) return [];
  return faults(['It failed to start with the host.'], () => bringUp(record));
}

/** `hasProject`: as a look at all installs has found. */
async function checkQuota(
  host: InspectedHost,
  { id, uid }: SandboxedInstall,
  hasProject: boolean,
): Promise<Fault[]> {
  const { quotas, layout, measuredQuotas } = host;
  if (measuredQuotas.isFull(id)) {
    const message = 'Disk quota exceeded: it can store no large files.';
    const remedy = 'Delete files of it, or raise HOMEPORT_INSTALL_DISK_GB or HOMEPORT_INSTALL_FILES there.';
    return [{ message, repair: null, remedy }];
  }
  const home = layout.homeOf(id);
  if (hasProject || !(await quotas.isOn()) || (await quotas.usage([home]))[0] !== null) return [];
  return faults(['Its files have no project quota.'], () => quotas.ensure(home, uid));
}

function sentence(fault: string | null): string | null {
  return fault === null ? null : `${fault.charAt(0).toUpperCase()}${fault.slice(1)}.`;
}
