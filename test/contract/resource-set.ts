import { generateKeyPairSync } from 'node:crypto';
import { operatorFor } from '../../src/access/caller.ts';
import { insertHost } from '../../src/features/hosts/store.ts';
import { insertDeleted } from '../../src/features/provisioning/deleted-installs/store.ts';
import { insertMove } from '../../src/features/provisioning/moves/store.ts';
import { insertTransfer } from '../../src/features/transfers/store.ts';
import { createSelfSigned } from '../../src/lib/certificates/self-signed-certificate.ts';
import { timestamp } from '../../src/lib/clock.ts';
import { DAY_MS } from '../../src/lib/durations.ts';
import { installName, type Person, type TestHomeport } from '../homeport.ts';
import { certificateMaker, pkcs8 } from '../servers/certificate-maker.ts';
import type { EndpointRow } from './endpoint-table.ts';

/** One thing of every kind, all of one account, by the names that paths give their identifiers. */
export type ResourceSet = Record<
  | 'account_id'
  | 'user_id'
  | 'site_id'
  | 'install_id'
  | 'destination_id'
  | 'domain_id'
  | 'report_id'
  | 'backup_id'
  | 'ssh_key_id'
  | 'transfer_id'
  | 'credential_id'
  // The site of the transfer, and one without an open transfer.
  | 'offered_site_id'
  | 'free_site_id'
  | 'operation_id'
  | 'queued_operation_id'
  | 'failed_operation_id'
  | 'webhook_id'
  | 'delivery_id'
  | 'redirect_id'
  | 'notification_id'
  | 'deleted_install_id'
  | 'host_id'
  // The install, which has another one beside it whose new host is lost.
  | 'placed_install_id',
  string
>;

let counter = 0;

export function domainName(): string {
  counter += 1;
  return `n${counter}-${process.pid}.example.com`;
}

/** A new public key in OpenSSH format (RFC 8709, section 4). */
export function publicKey(): string {
  const { x } = generateKeyPairSync('ed25519').publicKey.export({ format: 'jwk' });
  const field = (bytes: Buffer) => {
    const length = Buffer.alloc(4);
    length.writeUInt32BE(bytes.length);
    return Buffer.concat([length, bytes]);
  };
  const blob = Buffer.concat([field(Buffer.from('ssh-ed25519')), field(Buffer.from(x ?? '', 'base64url'))]);
  return `ssh-ed25519 ${blob.toString('base64')} somebody@example.com`;
}

const certificate = createSelfSigned({
  names: ['certificate.example.com'],
  notBefore: new Date('2026-01-01T00:00:00Z'),
  days: 3650,
});

/** Makes one thing of every kind in an account, whole enough that every endpoint succeeds on it. */
export async function createResources(
  homeport: TestHomeport,
  owner: Person,
  accountId: string,
): Promise<ResourceSet> {
  const { platform, services } = homeport;
  const caller = operatorFor(owner.userId);
  const site = await services.sites.create(caller, {
    name: 'Site',
    account_id: accountId,
    tags: ['Monthly care'],
  });
  const install = await services.installs.create(caller, {
    name: installName(),
    account_id: accountId,
    site_id: site.id,
    environment: 'production',
  });
  const destination = await services.installs.create(caller, {
    name: installName(),
    account_id: accountId,
  });
  const domain = await services.domains.create(caller, install.id, { name: domainName() });
  const backup = await services.backups.request(caller, install.id, {
    description: 'Before the change',
    notification_emails: [],
  });
  const failed = await services.caches.purge(caller, install.id, { cache: 'page' });
  const report = await services.domainReports.request(caller, install.id, domain.id);
  const { redirect } = await services.redirects.create(
    { caller, installId: install.id },
    { from: '/former-page', to: '/present-page/' },
  );
  const free = await services.sites.create(caller, { name: 'Free site', account_id: accountId });
  const transferId = await offerOf(homeport, accountId, site, owner);
  const credential = await services.credentials.issue(owner.userId, { name: 'of the set' });
  await leaveSshKeys(homeport, owner, 4);
  const key = await services.sshKeys.add(caller, publicKey());
  await leaveWebhooks(homeport, accountId, 4);
  const webhook = await services.webhooks.create(caller, webhookBody(accountId));
  const test = await services.webhooks.test(caller, webhook.id);
  const member = await homeport.person(accountId, 'partial');
  const { chain, key: privateKey } = await certificate;
  const now = timestamp(platform.clock);
  await platform.database.write(async ({ queries }) => {
    // The check took the install's turn; the endpoint is to succeed all the same.
    // Only a finished delivery can be made again.
    await queries
      .updateTable('webhook_deliveries')
      .set({ state: 'succeeded', attempts: 1, response_status: 204 })
      .where('id', '=', test.id)
      .execute();
    await queries
      .updateTable('jobs')
      .set({ state: 'failed', finished_at: now, error: 'x', reason: 'The host refused it.' })
      .where('id', '=', failed)
      .execute();
    await queries.deleteFrom('install_limits').where('install_id', '=', install.id).execute();
    // As after the jobs, which no worker runs here.
    await queries
      .updateTable('installs')
      .set({ status: 'active', php_version: '8.4', wordpress_version: '6.8.3' })
      .where('id', 'in', [install.id, destination.id])
      .execute();
    await queries
      .updateTable('backups')
      .set({ status: 'completed', bytes: 4096, files: 1, finished_at: now, verified_at: now })
      .where('id', '=', backup.id)
      .execute();
    await queries
      .insertInto('certificates')
      .values({
        domain_id: domain.id,
        source: 'SELF_SIGNED',
        chain,
        sealed_key: platform.sealer.seal(privateKey),
        not_before: now,
        not_after: now,
        created_at: now,
      })
      // Where a host is running, it may have been faster.
      .onConflict((conflict) => conflict.column('domain_id').doNothing())
      .execute();
    const settings = JSON.stringify(filestoreSettings);
    await queries
      .insertInto('import_keys')
      .values({
        install_id: install.id,
        public_key: 'x',
        sealed_key: platform.sealer.seal('x'),
        created_at: now,
      })
      .execute();
    await queries
      .insertInto('offload_settings')
      .values({
        install_id: install.id,
        settings,
        requested: settings,
        state: 'in_force',
        reason: null,
        updated_at: now,
      })
      .execute();
  });
  return {
    account_id: accountId,
    user_id: member.userId,
    site_id: site.id,
    install_id: install.id,
    destination_id: destination.id,
    domain_id: domain.id,
    report_id: report.reportId,
    backup_id: backup.id,
    ssh_key_id: key.id,
    // One that can be cancelled.
    operation_id: backup.operationId,
    queued_operation_id: backup.operationId,
    failed_operation_id: failed,
    transfer_id: transferId,
    credential_id: credential.username,
    offered_site_id: site.id,
    free_site_id: free.id,
    webhook_id: webhook.id,
    delivery_id: test.id,
    redirect_id: redirect.id,
    notification_id: await notificationOf(homeport, accountId, owner),
    deleted_install_id: await deletedInstall(homeport, accountId),
    placed_install_id: install.id,
    host_id: await hostFor(homeport, owner, install, destination),
  };
}

/**
 * A host to which the owner, who is made an operator, can move `movable`. The new host of `returning` is lost while it takes over. Nothing is
 * there to be asked.
 */
async function hostFor(
  { platform, services }: TestHomeport,
  { userId }: Person,
  movable: { id: string },
  returning: { id: string; name: string },
): Promise<string> {
  const now = timestamp(platform.clock);
  const add = async (kind: string) => {
    const id = crypto.randomUUID();
    const known = { id, name: `${kind}-${id}`, address: 'https://127.0.0.1:9', public_name: null };
    await platform.database.write(({ queries }) =>
      insertHost(queries, { ...known, edge_addresses: [], created_at: now }),
    );
    await services.hosts.note({
      ...{ id, capacity: 100, phpVersions: ['8.4'], wordpressVersions: ['6.8.3'], reservedNames: [] },
      ...{ ports: { http: 80, https: 443, ssh: 22 }, movesWebsites: true },
    });
    return id;
  };
  const [from, to, lost] = [await add('from'), await add('to'), await add('lost')];
  await platform.database.write(async ({ queries }) => {
    await queries.updateTable('users').set({ is_operator: true }).where('id', '=', userId).execute();
    await queries.updateTable('hosts').set({ reason: 'It is silent.' }).where('id', '=', lost).execute();
    await queries.updateTable('installs').set({ host_id: from }).where('id', '=', movable.id).execute();
    await queries.updateTable('installs').set({ host_id: lost }).where('id', '=', returning.id).execute();
    await insertMove(queries, {
      ...{ id: crypto.randomUUID(), install_id: returning.id, install_name: returning.name },
      ...{ from_host: from, to_host: lost, step: 'switched', job_id: crypto.randomUUID() },
      ...{ requested_at: now, switched_at: now },
    });
  });
  return to;
}

/** An unread notification of the owner. */
async function notificationOf(
  { platform }: TestHomeport,
  account_id: string,
  { userId }: Person,
): Promise<string> {
  const id = crypto.randomUUID();
  const now = timestamp(platform.clock);
  await platform.database.write(({ queries }) =>
    queries
      .insertInto('notifications')
      .values({
        id,
        user_id: userId,
        account_id,
        category: 'webhooks',
        problem: 'webhook.disabled',
        subject: id,
        install_id: null,
        install_name: null,
        facts: '{}',
        first_at: now,
        last_at: now,
        read_at: null,
        mail_due_at: null,
        mailed_at: null,
      })
      .execute(),
  );
  return id;
}

/** A deleted install that can be restored, as after the jobs of its deletion. */
async function deletedInstall({ platform }: TestHomeport, accountId: string): Promise<string> {
  const id = crypto.randomUUID();
  const backupId = crypto.randomUUID();
  const now = timestamp(platform.clock);
  await platform.database.write(({ queries }) =>
    insertDeleted(queries, {
      id,
      account_id: accountId,
      name: installName(),
      host_id: null,
      state: 'kept',
      backup_id: backupId,
      reason: null,
      kept: {
        ...{ site_id: null, environment: null, php_version: null, wordpress_version: null },
        ...{ defer_wordpress_until: null, mail_limit: null, mail_allowance: null },
        ...{ offload_file_name: 'x.filestore', offload_file_content: 'x', created_at: now },
        ...{ domains: [], rules: null, users: [] },
        backups: [
          {
            ...{ id: backupId, description: 'Before the deletion', bytes: 1, files: 1, sha256: null },
            ...{ scheduled: false, checkpoint: false, wordpress_version: null, verified_at: null },
            ...{ created_at: now, finished_at: now },
          },
        ],
      },
      deleted_at: now,
      expires_at: timestamp(platform.clock, DAY_MS),
    }),
  );
  return id;
}

/** Offers a site to its own account on behalf of another one, so that one set can both accept and decline it. */
async function offerOf(
  { platform, services }: TestHomeport,
  accountId: string,
  site: { id: string; name: string },
  { userId }: Person,
): Promise<string> {
  const origin = await services.accounts.create('Another account');
  const id = crypto.randomUUID();
  const now = timestamp(platform.clock);
  await platform.database.write(({ queries }) =>
    insertTransfer(queries, {
      id,
      site_id: site.id,
      site_name: site.name,
      installs: [],
      origin_account_id: origin.id,
      destination_account_id: accountId,
      status: 'pending',
      awaits_acceptance: true,
      requested_by: userId,
      accepted_by: null,
      scheduled_time: null,
      expires_at: now,
      created_at: now,
      updated_at: now,
    }),
  );
  return id;
}

/** Deletes the oldest SSH keys of a user, who may have a limited number. */
async function leaveSshKeys({ platform }: TestHomeport, { userId }: Person, left: number): Promise<void> {
  await platform.database.write(async ({ queries }) => {
    const all = queries.selectFrom('ssh_keys').select('seq').where('user_id', '=', userId);
    const latest = await all.orderBy('seq', 'desc').limit(left).execute();
    const oldest = latest.at(-1)?.seq ?? 0;
    await queries.deleteFrom('ssh_keys').where('user_id', '=', userId).where('seq', '<', oldest).execute();
  });
}

/** Deletes the oldest webhooks of an account, which may have a limited number. */
async function leaveWebhooks({ platform }: TestHomeport, accountId: string, left: number): Promise<void> {
  await platform.database.write(async ({ queries }) => {
    const all = queries.selectFrom('webhooks').select('seq').where('account_id', '=', accountId);
    const latest = await all.orderBy('seq', 'desc').limit(left).execute();
    const oldest = latest.at(-1)?.seq ?? 0;
    await queries
      .deleteFrom('webhooks')
      .where('account_id', '=', accountId)
      .where('seq', '<', oldest)
      .execute();
  });
}

const webhookBody = (account_id: string) => ({ account_id, url: 'https://hooks.example.com/homeport' });

const filestoreSettings = {
  cloud: 's3',
  bucket: 'a-bucket',
  bucket_region: 'eu-west-1',
  path_settings: [{ path: '/uploads', excluded_paths: [], redirect_type: 'break' }],
};

/** Identifiers of resources that do not exist. */
export function absentResources(): ResourceSet {
  const id = () => crypto.randomUUID();
  return {
    account_id: id(),
    user_id: id(),
    site_id: id(),
    install_id: id(),
    destination_id: id(),
    domain_id: id(),
    report_id: id(),
    backup_id: id(),
    ssh_key_id: id(),
    operation_id: id(),
    queued_operation_id: id(),
    failed_operation_id: id(),
    transfer_id: id(),
    credential_id: id(),
    offered_site_id: id(),
    free_site_id: id(),
    webhook_id: id(),
    delivery_id: id(),
    redirect_id: id(),
    notification_id: id(),
    deleted_install_id: id(),
    host_id: id(),
    placed_install_id: id(),
  };
}

/** The row's path with the resources in it. */
export function pathTo(row: EndpointRow, resources: Record<string, string>): string {
  const {
    site_id,
    offered_site_id,
    free_site_id = '',
    failed_operation_id = '',
    destination_id = '',
  } = resources;
  // A site has one open transfer.
  const isOffered = row.number === 93 && site_id === offered_site_id;
  // Only a failed operation can be repeated.
  // The new host of this one is lost.
  const isReturning = row.number === 207 && resources.install_id === resources.placed_install_id;
  const isQueued = row.number === 53 && resources.operation_id === resources.queued_operation_id;
  return pathWith(row.path, {
    ...resources,
    ...(isOffered ? { site_id: free_site_id } : {}),
    ...(isQueued ? { operation_id: failed_operation_id } : {}),
    ...(isReturning ? { install_id: destination_id } : {}),
  });
}

export function pathWith(template: string, resources: Record<string, string>): string {
  return template.replace(/\{(\w+)\}/g, (_, name: string) => resources[name] ?? '');
}

const make = certificateMaker(new Date());
const root = await make({ name: 'Test Root', days: [-1, 3650] });
const leaf = await make(
  { name: 'example.com', names: ['example.com', '*.example.com', '*.localhost'], days: [-1, 3650] },
  root,
);
/** A certificate that covers every {@link domainName}, and default domains. */
const upload = { certificate: leaf.pem + root.pem, private_key: pkcs8(leaf.key) };

/** A valid body for the endpoint; undefined without one. */
export function bodyFor(
  { number }: EndpointRow,
  { account_id, backup_id, site_id, install_id, destination_id, host_id }: ResourceSet,
): unknown {
  switch (number) {
    case 6:
      return {
        user: {
          account_id,
          first_name: 'Ada',
          last_name: 'Example',
          email: `${crypto.randomUUID()}@example.com`,
          roles: 'partial',
        },
      };
    case 8:
      return { roles: 'partial' };
    case 11:
      return { name: 'New site', account_id };
    case 13:
      return { name: 'Renamed' };
    case 16:
      return { name: installName(), account_id };
    case 18:
      return { environment: 'staging' };
    case 22:
      return { filestore_settings: filestoreSettings };
    case 23:
      return { filestore_settings: { bucket_region: 'us-east-1' } };
    case 25:
      return { name: domainName() };
    case 26:
      return { domains: [{ name: domainName() }, { name: domainName() }] };
    case 28:
      return { secure_all_urls: true };
    case 33:
      return { description: 'Before the change', notification_emails: ['someone@example.com'] };
    case 35:
      return { type: 'page' };
    case 43:
      return { notification_emails: [] };
    case 45:
      return { backup_id };
    case 206:
      return { host: host_id };
    case 202:
      return { path: 'htdocs/wp-config.php' };
    case 46:
      return { source_environment_id: install_id, destination_environment_id: destination_id };
    case 184:
      return { read: true };
    case 187:
      return { backups: 'daily' };
    case 111:
      return { args: ['plugin', 'list'] };
    case 113:
      return {};
    case 38:
      return { public_key: publicKey() };
    case 97:
      return { name: 'Deployment', account_id };
    case 73:
      return upload;
    case 93:
      return { destination_account_id: crypto.randomUUID() };
    case 102:
      return webhookBody(account_id);
    case 141:
      return { limit_per_hour: 50 };
    case 104:
      return { description: 'Deployments' };
    case 151:
      return { xmlrpc: 'blocked' };
    case 153:
      return { from: '/old-page', to: '/new-page/' };
    case 154:
      return { redirects: [{ from: '/older-page', to: '/new-page/' }] };
    case 156:
      return { to: '/newest-page/' };
    case 159:
      return { max_age: 600 };
    case 121:
    case 122:
      return { plugins: 'all' };
    case 124:
      return { core: 'minor' };
    case 170:
      return { kind: 'plugin', id: 'akismet', status: 'inactive' };
    case 171:
      return { kind: 'plugin', slug: 'akismet' };
    case 160:
      return { source: 'file', path: 'private/website.zip' };
    case 161:
      return { name: installName() };
    case 162:
      return { to: destination_id, include_files: true, include_db: true };
    case 190:
      return { add: ['Care plan'], site_ids: [site_id], install_ids: [install_id] };
    case 191:
      return { name: 'monthly care', new_name: 'Monthly care' };
    case 192:
      return { name: 'Monthly care' };
    default:
      return undefined;
  }
}
