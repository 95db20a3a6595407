import { EXAMPLE_ID } from '../../api/example-ids.ts';
import {
  component,
  nullable,
  nullableString,
  nullableTimestamp,
  stringEnum,
  Type,
  timestamp,
  uuid,
} from '../../api/schema.ts';
import { MOST_CHECKED_PAGES, MOST_UPDATES, UPDATE_KINDS } from '../../hosting/contract/wordpress-updates.ts';
import { CORE_POLICIES, ITEM_POLICIES, WEEKDAYS } from './policy.ts';

const itemId = Type.String({ minLength: 1, maxLength: 200, pattern: '^[^\\u0000-\\u001f\\u007f]*$' });
const items = (names: string) =>
  Type.Optional(
    Type.Union([Type.Literal('all'), Type.Array(itemId, { minItems: 1, maxItems: MOST_UPDATES })], {
      description: `"all", or ${names}`,
    }),
  );

const wantedFields = {
  core: Type.Optional(
    Type.Union([Type.Boolean(), Type.String({ pattern: '^\\d{1,3}(\\.\\d{1,3}){1,2}$' })], {
      description: 'WordPress itself: true for the newest version of the host, or one of its versions',
    }),
  ),
  plugins: items('the plugins: their files (`akismet/akismet.php`) or folders (`akismet`)'),
  themes: items('the folders of the themes'),
  keep: Type.Optional(
    Type.Boolean({
      description:
        'keeps updates after which pages only look different; PHP and WordPress must work all the same',
    }),
  ),
};

export const createUpdateSchema = component(
  'CreateWordPressUpdate',
  Type.Object(wantedFields, { description: 'The wanted updates; at least one field' }),
  { core: true, plugins: 'all' },
);

/** The most installs of one request. */
export const MOST_INSTALLS = 500;

export const createUpdatesSchema = component(
  'CreateWordPressUpdates',
  Type.Object({
    install_ids: Type.Optional(
      Type.Array(uuid(), {
        minItems: 1,
        maxItems: MOST_INSTALLS,
        description: 'all active installs of the account that you may work on if left out',
      }),
    ),
    tags: Type.Optional(
      Type.Array(Type.String({ minLength: 1, maxLength: 200 }), {
        minItems: 1,
        maxItems: 20,
        description: 'only installs whose site has all these tags',
      }),
    ),
    ...wantedFields,
  }),
  { plugins: ['akismet/akismet.php'] },
);

const installOperation = component(
  'WordPressUpdateOperation',
  Type.Object({ install_id: uuid(), operation_id: uuid() }),
  { install_id: EXAMPLE_ID.install, operation_id: EXAMPLE_ID.operation },
);

const refusedInstall = component(
  'RefusedWordPressUpdate',
  Type.Object({ install_id: uuid(), message: Type.String({ description: 'why, one sentence' }) }),
  {
    install_id: EXAMPLE_ID.install,
    message: 'The install is pending; only an active one can be updated.',
  },
);

export const requestedUpdatesSchema = component(
  'RequestedWordPressUpdates',
  Type.Object(
    {
      count: Type.Integer({ description: 'the number of installs that are being updated' }),
      operations: Type.Array(installOperation),
      refused: Type.Array(refusedInstall),
    },
    { description: 'The operation of each install, and the installs that were refused' },
  ),
  {
    count: 1,
    operations: [{ install_id: EXAMPLE_ID.install, operation_id: EXAMPLE_ID.operation }],
    refused: [],
  },
);

const availableUpdate = component(
  'WordPressUpdateItem',
  Type.Object({
    kind: stringEnum(UPDATE_KINDS),
    id: Type.String({ description: 'file of the plugin, folder of the theme, or `wordpress`' }),
    name: Type.String(),
    from: Type.String(),
    to: Type.String(),
  }),
  { kind: 'plugin', id: 'akismet/akismet.php', name: 'Akismet Anti-spam', from: '5.4', to: '5.5' },
);

export const updateSchema = component(
  'WordPressUpdateRun',
  Type.Object(
    {
      id: uuid(),
      cause: stringEnum(['request', 'schedule'] as const),
      status: stringEnum(
        ['requested', 'running', 'succeeded', 'unnecessary', 'rolled_back', 'failed', 'cancelled'] as const,
        'unnecessary: there was nothing to update',
      ),
      updates: Type.Array(availableUpdate, { description: 'the updates that were made' }),
      rolled_back: nullable(availableUpdate),
      reason: nullableString('why it was rolled back or failed, one sentence'),
      checkpoint_id: nullableString('the backup from before'),
      restored: Type.Boolean({
        description:
          'whether the checkpoint was restored, after a failure or an interruption: changes of the website since are lost',
      }),
      created_at: timestamp(),
      finished_at: nullableTimestamp(),
    },
    { description: 'An update of an install' },
  ),
  {
    id: EXAMPLE_ID.operation,
    cause: 'schedule',
    status: 'rolled_back',
    updates: [],
    rolled_back: {
      kind: 'plugin',
      id: 'akismet/akismet.php',
      name: 'Akismet Anti-spam',
      from: '5.4',
      to: '5.5',
    },
    reason:
      'The update of Akismet Anti-spam from 5.4 to 5.5 was rolled back: the home page answers 500, and 200 before.',
    checkpoint_id: EXAMPLE_ID.backup,
    restored: true,
    created_at: '2026-01-31T09:30:00.000Z',
    finished_at: '2026-01-31T09:31:12.800Z',
  },
);

const windowSchema = component(
  'MaintenanceWindow',
  Type.Object(
    {
      days: Type.Array(stringEnum(WEEKDAYS), { minItems: 1, maxItems: 7, uniqueItems: true }),
      from_hour: Type.Integer({ minimum: 0, maximum: 23, description: 'first hour on these days' }),
      hours: Type.Integer({ minimum: 1, maximum: 24, description: 'length; it can reach into the next day' }),
      time_zone: Type.String({ minLength: 1, maxLength: 64, description: '`UTC` or an IANA name' }),
    },
    { description: 'When automatic updates may begin' },
  ),
  { days: ['tuesday', 'thursday'], from_hour: 2, hours: 4, time_zone: 'Europe/Berlin' },
);

const policyFields = {
  core: stringEnum(
    CORE_POLICIES,
    'releases of WordPress: `security`: of the present branch (6.8.1 to 6.8.3); `minor`: up to the next major number; `all`',
  ),
  plugins: stringEnum(ITEM_POLICIES, 'how often plugins are updated'),
  themes: stringEnum(ITEM_POLICIES, 'how often themes are updated'),
  maintenance_window: nullable(windowSchema),
  pages: Type.Array(Type.String({ minLength: 1, maxLength: 500, pattern: '^/(?!/)[\\u0021-\\u007e]*$' }), {
    maxItems: MOST_CHECKED_PAGES,
    uniqueItems: true,
    description:
      'paths that every check asks for besides the home page, the newest post and page, the login form and wp-admin',
  }),
};

const policyExample = {
  core: 'security' as const,
  plugins: 'weekly' as const,
  themes: 'none' as const,
  maintenance_window: {
    days: ['tuesday' as const, 'thursday' as const],
    from_hour: 2,
    hours: 4,
    time_zone: 'Europe/Berlin',
  },
  pages: ['/shop/', '/contact/'],
};

export const policySchema = component(
  'WordPressUpdatePolicy',
  Type.Object(
    {
      ...policyFields,
      defer_wordpress_upgrades_until: nullableTimestamp(
        'WordPress itself is not updated automatically until then; change it with the install',
      ),
    },
    { description: 'Automatic updates of an install' },
  ),
  { ...policyExample, defer_wordpress_upgrades_until: null },
);

export const updatePolicySchema = component(
  'UpdateWordPressUpdatePolicy',
  Type.Object({
    core: Type.Optional(policyFields.core),
    plugins: Type.Optional(policyFields.plugins),
    themes: Type.Optional(policyFields.themes),
    maintenance_window: Type.Optional(policyFields.maintenance_window),
    pages: Type.Optional(policyFields.pages),
  }),
  policyExample,
);
