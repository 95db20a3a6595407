import {
  nullableArrayOfStrings,
  nullableEnum,
  nullableString,
  stringEnum,
  Type,
  timestamp,
  uuid,
} from '../../../api/schema.ts';
import { INSTALL_NAME } from '../../../lib/host-names.ts';

export const ENVIRONMENTS = ['production', 'staging', 'development'] as const;

/** A lower-case DNS label of 3 to 40 characters (docs/api.md, Installs). */
export const INSTALL_NAME_PATTERN = `^${INSTALL_NAME}$`;

export const installSchema = Type.Object(
  {
    id: uuid(),
    name: Type.String(),
    account: Type.Object({ id: uuid() }),
    php_version: nullableString('null if the host runs no PHP'),
    status: stringEnum(['pending', 'active', 'failed'], 'pending until the website answers'),
    cname: Type.String({ description: 'default domain: the host name at which the install always answers' }),
    environment: nullableEnum(ENVIRONMENTS),
    site: Type.Unsafe<{ id: string } | null>({
      type: ['object', 'null'],
      properties: { id: { type: 'string', format: 'uuid' } },
      required: ['id'],
    }),
    primary_domain: Type.String(),
    stable_ips: nullableArrayOfStrings(),
    is_multisite: Type.Boolean(),
    created_at: timestamp(),
  },
  { description: 'A website' },
);

export const createInstallSchema = Type.Object({
  name: Type.String({
    pattern: INSTALL_NAME_PATTERN,
    description:
      'lower-case letters, digits and hyphens, 3 to 40, beginning with a letter; unique; never changes',
  }),
  account_id: uuid('owning account'),
  site_id: Type.Optional(Type.Unsafe<string | null>({ type: ['string', 'null'], format: 'uuid' })),
  environment: Type.Optional(nullableEnum(ENVIRONMENTS, 'the slot that the install fills in its site')),
  php_version: Type.Optional(
    Type.Unsafe<string | null>({
      type: ['string', 'null'],
      pattern: '^[0-9]{1,2}\\.[0-9]{1,2}$',
      description:
        'an addition of Homeport: `major.minor`, one that the hosts offer; the newest if left out or null',
    }),
  ),
});

export const updateInstallSchema = Type.Object({
  site_id: Type.Optional(
    Type.Unsafe<string | null>({ type: ['string', 'null'], format: 'uuid', description: 'null: no site' }),
  ),
  environment: Type.Optional(nullableEnum(ENVIRONMENTS)),
});
