import { EXAMPLE_ID } from '../../../api/example-ids.ts';
import {
  component,
  nullable,
  nullableArrayOfStrings,
  nullableEnum,
  stringEnum,
  Type,
  timestamp,
  uuid,
} from '../../../api/schema.ts';
import { RUNTIMES } from '../../../hosting/contract/install-state.ts';
import { INSTALL_NAME } from '../../../lib/host-names.ts';
import { answeredExamples, answeredSchemas, settingExamples, settingSchemas } from './fields.ts';

export const ENVIRONMENTS = ['production', 'staging', 'development'] as const;

/** A lower-case DNS label of 3 to 40 characters (docs/api.md, Installs). */
export const INSTALL_NAME_PATTERN = `^${INSTALL_NAME}$`;

export const environmentSchema = component(
  'Environment',
  stringEnum(ENVIRONMENTS, 'the slot that an install fills in its site'),
  'production',
);

export const accountReference = component('AccountReference', Type.Object({ id: uuid() }), {
  id: EXAMPLE_ID.account,
});
const siteReference = component('SiteReference', Type.Object({ id: uuid() }), { id: EXAMPLE_ID.site });

export const INSTALL_STATUSES = ['pending', 'active', 'failed'] as const;

export const installSchema = component(
  'Install',
  Type.Object(
    {
      id: uuid(),
      name: Type.String(),
      account: accountReference,
      ...answeredSchemas,
      status: stringEnum(INSTALL_STATUSES, 'pending until the website answers'),
      cname: Type.String({
        description: 'default domain: the host name at which the install always answers',
      }),
      environment: nullable(environmentSchema),
      site: nullable(siteReference),
      primary_domain: Type.String(),
      stable_ips: nullableArrayOfStrings(),
      is_multisite: Type.Boolean(),
      created_at: timestamp(),
    },
    { description: 'A website' },
  ),
  {
    id: EXAMPLE_ID.install,
    name: 'shop',
    account: { id: EXAMPLE_ID.account },
    ...answeredExamples,
    status: 'active',
    cname: 'shop.sites.example.net',
    environment: 'production',
    site: { id: EXAMPLE_ID.site },
    primary_domain: 'www.example.com',
    stable_ips: ['203.0.113.10'],
    is_multisite: false,
    created_at: '2026-01-31T09:30:00.000Z',
  },
);

export const createInstallSchema = component(
  'CreateInstall',
  Type.Object({
    name: Type.String({
      pattern: INSTALL_NAME_PATTERN,
      description:
        'lower-case letters, digits and hyphens, 3 to 40, beginning with a letter; unique; never changes',
    }),
    account_id: uuid('owning account'),
    site_id: Type.Optional(Type.Unsafe<string | null>({ type: ['string', 'null'], format: 'uuid' })),
    environment: Type.Optional(nullable(environmentSchema)),
    php_version: Type.Optional(
      Type.Unsafe<string | null>({
        type: ['string', 'null'],
        pattern: '^[0-9]{1,2}\\.[0-9]{1,2}$',
        description:
          'an addition of Homeport: `major.minor`, one that the hosts offer; the newest if left out or null',
      }),
    ),
    runtime: Type.Optional(
      nullableEnum(
        RUNTIMES,
        'an addition of Homeport: what runs the website, `static` for files only; the default of the platform if left out or null',
      ),
    ),
  }),
  {
    name: 'shop-staging',
    account_id: EXAMPLE_ID.account,
    site_id: EXAMPLE_ID.site,
    environment: 'staging',
  },
);

export const updateInstallSchema = component(
  'UpdateInstall',
  Type.Object({
    site_id: Type.Optional(
      Type.Unsafe<string | null>({ type: ['string', 'null'], format: 'uuid', description: 'null: no site' }),
    ),
    environment: Type.Optional(nullable(environmentSchema)),
    ...settingSchemas,
    php_version: Type.Optional(
      Type.String({
        pattern: '^[0-9]{1,2}\\.[0-9]{1,2}$',
        description:
          'an addition of Homeport: `major.minor`, one that the host of the install offers; starts an operation `install.update_php`',
      }),
    ),
  }),
  { site_id: EXAMPLE_ID.site, environment: 'staging', ...settingExamples },
);

/** Sort keys of the list, with the type of their values. */
export const INSTALL_SORTS = { name: 'text', created_at: 'time' } as const;
