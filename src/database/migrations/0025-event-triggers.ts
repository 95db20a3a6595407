import type { ColumnTypes } from './column-types.ts';

/** A change of a row that is an event. In SQL, `it` is the row: the old one of a deletion, otherwise the new one. */
export interface EventTrigger {
  type: string;
  table: string;
  on: 'insert' | 'update' | 'delete';
  /** Columns whose change is the event. */
  of?: readonly string[];
  /** Further condition. */
  when?: string;
  /** Selects account_id and install_id. No row: no event. Default: the row's account, and no install. */
  from?: string;
  /** The id of the thing that changed. */
  subject: string;
  /** The facts of the event by name. Texts and numbers only, and nothing that a member with access to the thing may not see. */
  data: Readonly<Record<string, string>>;
}

const OF_ACCOUNT = 'select it.account_id as account_id, {no_uuid} as install_id';
const OF_INSTALL = 'select id as install_id, account_id from installs where id = it.install_id';
const SITE = { site_id: 'it.id', name: 'it.name' };
const INSTALL = {
  install_id: 'it.id',
  name: 'it.name',
  environment: 'it.environment',
  site_id: 'it.site_id',
  status: 'it.status',
};
const INSTALLS_OWN = 'select it.account_id as account_id, it.id as install_id';
const DOMAIN = { domain_id: 'it.id', name: 'it.name' };
const BACKUP = { backup_id: 'it.id', status: 'it.status' };
const MEMBER = { user_id: 'it.user_id', role: 'it.role' };
const CERTIFICATE = {
  domain_id: 'it.domain_id',
  name: '(select name from domains where id = it.domain_id)',
  source: 'it.source',
};
const CERTIFICATES_INSTALL = `select installs.id as install_id, installs.account_id from domains
  join installs on installs.id = domains.install_id where domains.id = it.domain_id`;
const OPERATION =
  'select account_id, install_id, id as operation_id, kind from operations where job_id = it.id';

const domain = (type: string, more: Pick<EventTrigger, 'on' | 'of' | 'when'>): EventTrigger => ({
  type,
  table: 'domains',
  from: OF_INSTALL,
  subject: 'it.id',
  data: DOMAIN,
  ...more,
});
const backup = (type: string, more: Pick<EventTrigger, 'on' | 'of' | 'when'>): EventTrigger => ({
  type,
  table: 'backups',
  from: OF_INSTALL,
  subject: 'it.id',
  data: BACKUP,
  ...more,
  // Copies of installs go through backups that nobody sees.
  when: ['it.copy_job_id is null', ...(more.when ? [more.when] : [])].join(' and '),
});
const install = (type: string, more: Pick<EventTrigger, 'on' | 'of' | 'when'>): EventTrigger => ({
  type,
  table: 'installs',
  from: INSTALLS_OWN,
  subject: 'it.id',
  data: INSTALL,
  ...more,
});
const member = (type: string, more: Pick<EventTrigger, 'on' | 'of'>): EventTrigger => ({
  type,
  table: 'memberships',
  subject: 'it.user_id',
  data: MEMBER,
  ...more,
});
const certificate = (type: string, source: string, more: Pick<EventTrigger, 'on' | 'of'>): EventTrigger => ({
  type,
  table: 'certificates',
  from: CERTIFICATES_INSTALL,
  subject: 'it.domain_id',
  data: CERTIFICATE,
  when: `it.source = '${source}'`,
  ...more,
});
const operation = (type: string, state: string): EventTrigger => ({
  type,
  table: 'jobs',
  on: 'update',
  of: ['state'],
  when: `it.state = '${state}'`,
  from: OPERATION,
  subject: 'operation_id',
  data: { operation_id: 'operation_id', kind: 'kind' },
});

/** Every change that is an event. The closed list of types is in features/accounts/events/event-types.ts. */
export const EVENT_TRIGGERS: readonly EventTrigger[] = [
  {
    type: 'account.updated',
    table: 'accounts',
    on: 'update',
    of: ['name', 'requires_second_factor'],
    from: 'select it.id as account_id, {no_uuid} as install_id',
    subject: 'it.id',
    data: { account_id: 'it.id', name: 'it.name' },
  },
  member('account_user.added', { on: 'insert' }),
  member('account_user.updated', { on: 'update', of: ['role', 'billing', 'invite_accepted'] }),
  member('account_user.removed', { on: 'delete' }),
  { type: 'site.created', table: 'sites', on: 'insert', subject: 'it.id', data: SITE },
  { type: 'site.updated', table: 'sites', on: 'update', of: ['name'], subject: 'it.id', data: SITE },
  { type: 'site.deleted', table: 'sites', on: 'delete', subject: 'it.id', data: SITE },
  {
    type: 'site.transferred',
    table: 'sites',
    on: 'update',
    of: ['account_id'],
    // Both accounts see that the site left and arrived.
    from: `select parties.account_id, {no_uuid} as install_id from (
      select old.account_id as account_id union all select new.account_id) as parties`,
    subject: 'it.id',
    data: { ...SITE, origin_account_id: 'old.account_id', destination_account_id: 'new.account_id' },
  },
  install('install.created', { on: 'insert' }),
  install('install.updated', {
    on: 'update',
    of: ['environment', 'site_id', 'php_version'],
    when: 'old.account_id = new.account_id',
  }),
  install('install.active', { on: 'update', of: ['status'], when: `it.status = 'active'` }),
  install('install.failed', { on: 'update', of: ['status'], when: `it.status = 'failed'` }),
  install('install.deleted', { on: 'delete' }),
  domain('domain.created', { on: 'insert' }),
  domain('domain.updated', {
    on: 'update',
    of: ['is_primary', 'is_duplicate', 'redirect_to_id', 'secure_all_urls'],
  }),
  domain('domain.active', { on: 'update', of: ['network_status'], when: `it.network_status = 'ACTIVE'` }),
  domain('domain.failed', { on: 'update', of: ['network_status'], when: `it.network_status = 'FAILED'` }),
  domain('domain.deleted', { on: 'delete' }),
  {
    type: 'domain.verified',
    table: 'domain_proofs',
    on: 'update',
    of: ['verified_at'],
    when: 'old.verified_at is null',
    subject: '{no_uuid}',
    data: { name: 'it.registrable' },
  },
  certificate('certificate.issued', 'LETS_ENCRYPT', { on: 'insert' }),
  certificate('certificate.issued', 'LETS_ENCRYPT', { on: 'update', of: ['chain'] }),
  certificate('certificate.uploaded', 'THIRD_PARTY', { on: 'insert' }),
  certificate('certificate.uploaded', 'THIRD_PARTY', { on: 'update', of: ['chain'] }),
  backup('backup.created', { on: 'insert' }),
  backup('backup.completed', { on: 'update', of: ['status'], when: `it.status = 'completed'` }),
  backup('backup.failed', { on: 'update', of: ['status'], when: `it.status = 'aborted'` }),
  backup('backup.deleted', { on: 'delete' }),
  operation('operation.succeeded', 'succeeded'),
  operation('operation.failed', 'failed'),
  operation('operation.cancelled', 'cancelled'),
];

/** The statements that create a trigger. It writes the event in the transaction of the change. */
export function eventTrigger(
  trigger: EventTrigger,
  t: ColumnTypes,
  dialect: 'sqlite' | 'postgres',
): string[] {
  const { type, table, on, of, from = OF_ACCOUNT, subject, data } = trigger;
  const name = `events_${table}_${type.replace('.', '_')}_${on}`;
  const row = (text: string) =>
    text
      .replaceAll('{no_uuid}', `cast(null as ${t.uuid})`)
      .replace(/\bit\./g, on === 'delete' ? 'old.' : 'new.');
  const facts = Object.entries(data).flatMap(([key, value]) => [`'${key}'`, row(value)]);
  const [id, object, now] =
    dialect === 'postgres'
      ? ['gen_random_uuid()', 'json_build_object', 'clock_timestamp()']
      : [UUID_ON_SQLITE, 'json_object', `strftime('%Y-%m-%dT%H:%M:%fZ', 'now')`];
  const insert = `insert into events (id, type, account_id, install_id, subject_id, data, created_at)
    select ${id}, '${type}', subject.account_id, subject.install_id, ${row(subject)}, ${object}(${facts.join(', ')}), ${now}
    from (${row(from)}) as subject;`;
  const head = `create trigger ${name} after ${on}${on === 'update' && of ? ` of ${of.join(', ')}` : ''} on ${table}
    for each row ${condition(trigger, row)}`;
  if (dialect === 'sqlite') return [`${head} begin ${insert} end`];
  return [
    `create function homeport_${name}() returns trigger language plpgsql as $$ begin ${insert} return null; end $$`,
    `${head} execute function homeport_${name}()`,
  ];
}

function condition({ on, of = [], when }: EventTrigger, row: (text: string) => string): string {
  const changed = on === 'update' ? of.map((name) => `old.${name} is distinct from new.${name}`) : [];
  const conditions = [
    ...(changed.length > 0 ? [`(${changed.join(' or ')})`] : []),
    ...(when === undefined ? [] : [row(when)]),
  ];
  return conditions.length > 0 ? `when (${conditions.join(' and ')})` : '';
}

/** A random UUID, version 4. */
export const UUID_ON_SQLITE = `lower(hex(randomblob(4)) || '-' || hex(randomblob(2)) || '-4' || substr(hex(randomblob(2)), 2)
  || '-' || substr('89ab', 1 + (abs(random()) % 4), 1) || substr(hex(randomblob(2)), 2) || '-' || hex(randomblob(6)))`;
