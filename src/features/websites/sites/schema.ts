import { displayName } from '../../../api/display-name.ts';
import { nullableEnum, nullableString, Type, timestamp, uuid } from '../../../api/schema.ts';
import { ENVIRONMENTS } from '../installs/schema.ts';

const SITE_NAME_LENGTH = 40;

export const siteSchema = Type.Object(
  {
    id: uuid(),
    name: Type.String(),
    account: Type.Object({ id: uuid() }),
    group_name: nullableString(),
    tags: Type.Array(Type.String()),
    installs: Type.Array(
      Type.Object({
        id: uuid(),
        name: Type.String(),
        environment: nullableEnum(ENVIRONMENTS),
        cname: Type.String(),
        php_version: nullableString(),
        is_multisite: Type.Boolean(),
      }),
      { description: 'at most one for each environment' },
    ),
    created_at: timestamp(),
  },
  { description: 'Up to one install for each environment' },
);

const siteName = displayName(SITE_NAME_LENGTH);

export const createSiteSchema = Type.Object({ name: siteName, account_id: uuid() });

export const updateSiteSchema = Type.Object({ name: Type.Optional(siteName) });

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
