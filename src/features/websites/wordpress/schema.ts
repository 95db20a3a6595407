import {
  component,
  nullable,
  nullableString,
  nullableTimestamp,
  type Static,
  stringEnum,
  type TSchema,
  Type,
  uuid,
} from '../../../api/schema.ts';
import { PLUGIN_STATUSES, THEME_STATUSES } from '../../../hosting/contract/wordpress.ts';
import { environmentSchema } from '../installs/schema.ts';

const EXAMPLE_TIME = '2026-01-31T09:30:00.000Z';

/** A list, or null while it is unknown. */
const nullableList = <Item extends TSchema>(item: Item) =>
  Type.Unsafe<Static<Item>[] | null>({
    ...Type.Array(item),
    type: ['array', 'null'],
    description: 'null: not read yet, so nothing is known',
  });

const nullableCount = (meaning: string) =>
  Type.Unsafe<number | null>({
    type: ['integer', 'null'],
    description: `${meaning}; null: the website was not read yet`,
  });

export const updateSchema = component(
  'WordPressUpdate',
  Type.Object(
    { version: Type.String() },
    { description: 'An available update of WordPress, a plugin or a theme' },
  ),
  { version: '6.9.1' },
);

const coreExample = { version: '6.8.3', available_update: { version: '6.9.1' } };
const coreSchema = component(
  'WordPressCore',
  Type.Object(
    {
      version: Type.String(),
      available_update: nullable(updateSchema),
    },
    { description: 'The version of WordPress itself' },
  ),
  coreExample,
);

const pluginExample = {
  file: 'akismet/akismet.php',
  slug: 'akismet',
  name: 'Akismet Anti-spam',
  version: '5.3',
  status: 'active' as const,
  update: { version: '5.4' },
  auto_update: false,
};
export const pluginSchema = component(
  'WordPressPlugin',
  Type.Object(
    {
      file: Type.String({ description: 'as WordPress names it' }),
      slug: Type.String({ description: 'its folder, or its file without `.php` if it has none' }),
      name: Type.String(),
      version: nullableString('null: it names none'),
      status: stringEnum(
        PLUGIN_STATUSES,
        '`network`: active on every site of a network; `must_use` and `dropin`: WordPress always loads it',
      ),
      update: nullable(updateSchema),
      auto_update: Type.Boolean({ description: 'whether WordPress updates it automatically' }),
    },
    { description: 'A plugin of a website' },
  ),
  pluginExample,
);

const themeExample = {
  stylesheet: 'twentytwentyfive',
  name: 'Twenty Twenty-Five',
  version: '1.2',
  status: 'active' as const,
  parent: null,
  bundled: true,
  update: null,
  auto_update: false,
};
export const themeSchema = component(
  'WordPressTheme',
  Type.Object(
    {
      stylesheet: Type.String({ description: 'its folder, as WordPress names it' }),
      name: Type.String(),
      version: nullableString('null: it names none'),
      status: stringEnum(THEME_STATUSES, '`parent`: the active theme builds on it'),
      parent: nullableString('the theme that it builds on'),
      bundled: Type.Boolean({ description: 'whether it comes with WordPress and is updated with it' }),
      update: nullable(updateSchema),
      auto_update: Type.Boolean({ description: 'whether WordPress updates it automatically' }),
    },
    { description: 'A theme of a website' },
  ),
  themeExample,
);

const administratorExample = {
  login: 'admin',
  email: 'you@example.com',
  display_name: 'You',
  registered_at: EXAMPLE_TIME,
};
const administratorSchema = component(
  'WordPressAdministrator',
  Type.Object(
    {
      login: Type.String({ description: 'user name' }),
      email: nullableString('null: it has none'),
      display_name: Type.String(),
      registered_at: nullableTimestamp('null: unknown'),
    },
    { description: 'A user of a website with the role of an administrator' },
  ),
  administratorExample,
);

const issueExample = {
  label: 'You should remove inactive themes',
  severity: 'recommended' as const,
};
const healthExample = {
  status: 'should_be_improved' as const,
  good: 14,
  recommended: 1,
  critical: 0,
  issues: [issueExample],
  examined_at: EXAMPLE_TIME,
};
const healthSchema = component(
  'SiteHealth',
  Type.Object(
    {
      status: stringEnum(
        ['good', 'should_be_improved', 'unknown'],
        'as WordPress computes it; `unknown`: it could not be examined yet',
      ),
      good: Type.Integer({ description: 'tests that passed' }),
      recommended: Type.Integer({ description: 'recommended improvements' }),
      critical: Type.Integer({ description: 'critical issues' }),
      issues: Type.Array(
        component(
          'SiteHealthIssue',
          Type.Object(
            {
              label: Type.String({ description: 'in the language of the website' }),
              severity: stringEnum(['recommended', 'critical']),
            },
            { description: 'A test of Site Health that did not pass' },
          ),
          issueExample,
        ),
        { description: 'critical ones first; empty if only the counts are known' },
      ),
      examined_at: nullableTimestamp('when its tests ran'),
    },
    { description: "WordPress' Site Health, without the tests that request the website itself" },
  ),
  healthExample,
);

export const wordpressSchema = component(
  'WordPress',
  Type.Object(
    {
      core: nullable(coreSchema),
      plugins: nullableList(pluginSchema),
      themes: nullableList(themeSchema),
      administrators: nullableList(administratorSchema),
      site_health: healthSchema,
      multisite: Type.Unsafe<boolean | null>({
        type: ['boolean', 'null'],
        description: 'whether it is a network; the lists are those of its main site. Null: not read yet',
      }),
      is_complete: Type.Boolean({
        description:
          'false before the first reading, and if a list lacks something: at most 500 plugins, 200 themes and 200 administrators are read, and none with unusual file names',
      }),
      read_at: nullableTimestamp('when the website was read; null: not yet'),
      updates_checked_at: nullableTimestamp('when WordPress last learnt of available updates; null: not yet'),
      updates_error: nullableString('why it could not ask for updates last time; null: it could'),
      error: nullableString('why the website cannot be read, or could not be last time; null: it could'),
    },
    { description: 'The contents of the WordPress of an install' },
  ),
  {
    core: coreExample,
    plugins: [pluginExample],
    themes: [themeExample],
    administrators: [administratorExample],
    site_health: healthExample,
    multisite: false,
    is_complete: true,
    read_at: EXAMPLE_TIME,
    updates_checked_at: EXAMPLE_TIME,
    updates_error: null,
    error: null,
  },
);

const installExample = {
  id: '0ff3e2c7-5b1d-4f63-9a52-8e3c1a2b4d5e',
  name: 'shop',
  environment: 'production' as const,
};

export const wordpressSummarySchema = component(
  'WordPressSummary',
  Type.Object(
    {
      install: component(
        'WordPressInstall',
        Type.Object(
          {
            id: uuid(),
            name: Type.String(),
            environment: nullable(environmentSchema),
          },
          { description: 'The install of a summary' },
        ),
        installExample,
      ),
      core: nullable(coreSchema),
      plugin_updates: nullableCount('plugins with an available update'),
      theme_updates: nullableCount('themes with an available update'),
      read_at: nullableTimestamp('when the website was read; null: not yet'),
      error: nullableString('why the website could not be read last time; null: it could'),
    },
    { description: 'The WordPress of one install of an account, with the number of waiting updates' },
  ),
  {
    install: installExample,
    core: coreExample,
    plugin_updates: 1,
    theme_updates: 0,
    read_at: EXAMPLE_TIME,
    error: null,
  },
);
