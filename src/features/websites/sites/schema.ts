import { displayName } from '../../../api/display-name.ts';
import { EXAMPLE_ID } from '../../../api/example-ids.ts';
import { component, nullable, nullableString, Type, timestamp, uuid } from '../../../api/schema.ts';
import { accountReference, environmentSchema } from '../installs/schema.ts';
import { siteTagsSchema } from '../site-tags/schema.ts';

const SITE_NAME_LENGTH = 40;

const siteInstall = component(
  'SiteInstall',
  Type.Object(
    {
      id: uuid(),
      name: Type.String(),
      environment: nullable(environmentSchema),
      cname: Type.String(),
      php_version: nullableString(),
      is_multisite: Type.Boolean(),
    },
    { description: 'An install of a site' },
  ),
  {
    id: EXAMPLE_ID.install,
    name: 'shop',
    environment: 'production',
    cname: 'shop.sites.example.net',
    php_version: '8.4',
    is_multisite: false,
  },
);

export const siteSchema = component(
  'Site',
  Type.Object(
    {
      id: uuid(),
      name: Type.String(),
      account: accountReference,
      group_name: nullableString(),
      tags: Type.Array(Type.String(), { description: 'in alphabetical order; its installs have them, too' }),
      installs: Type.Array(siteInstall, { description: 'at most one for each environment' }),
      sandbox: Type.Boolean({ description: 'for experiments; cannot be transferred' }),
      transferable: Type.Boolean({ description: 'built to be handed over to another account' }),
      created_at: timestamp(),
    },
    { description: 'Up to one install for each environment' },
  ),
  {
    id: EXAMPLE_ID.site,
    name: 'Shop',
    account: { id: EXAMPLE_ID.account },
    group_name: null,
    tags: ['Monthly care'],
    installs: [
      {
        id: EXAMPLE_ID.install,
        name: 'shop',
        environment: 'production',
        cname: 'shop.sites.example.net',
        php_version: '8.4',
        is_multisite: false,
      },
    ],
    sandbox: false,
    transferable: false,
    created_at: '2026-01-31T09:00:00.000Z',
  },
);

const siteName = displayName(SITE_NAME_LENGTH);

const siteTypes = {
  sandbox: Type.Optional(Type.Boolean({ description: 'for experiments; false by default' })),
  transferable: Type.Optional(
    Type.Boolean({ description: 'built to be handed over; false by default; does not affect transfers' }),
  ),
};

export const createSiteSchema = component(
  'CreateSite',
  Type.Object({ name: siteName, account_id: uuid(), ...siteTypes, tags: Type.Optional(siteTagsSchema) }),
  {
    name: 'Shop',
    account_id: EXAMPLE_ID.account,
  },
);

export const updateSiteSchema = component(
  'UpdateSite',
  Type.Object({ name: Type.Optional(siteName), ...siteTypes, tags: Type.Optional(siteTagsSchema) }),
  {
    name: 'Shop',
    tags: ['Monthly care'],
  },
);

/** Errors about a site's name (docs/api.md, Sites). */
export const siteNameTexts = {
  required: { summary: 'Site name is required', message: 'Site name cannot be empty' },
  too_long: {
    summary: 'Invalid site name',
    message: `Site name is too long (maximum is ${SITE_NAME_LENGTH} characters)`,
  },
  invalid: {
    summary: 'Invalid site name',
    message: 'Site name must be one line of text without control characters',
  },
};

/** Sort keys of the list, with the type of their values. */
export const SITE_SORTS = { name: 'text', created_at: 'time' } as const;
