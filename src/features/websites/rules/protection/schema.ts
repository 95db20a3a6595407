import { component, nullableString, stringEnum, Type } from '../../../../api/schema.ts';
import type { BodyDefinition } from '../../../../api/validation.ts';
import { MOST_RANGES, VISITOR_NAME } from '../../../../hosting/contract/website-rules.ts';
import { faultOfRange } from '../../../../hosting/policy/address-ranges.ts';

const xmlrpc = stringEnum(['allowed', 'blocked'], '`blocked`: the edge refuses every request to xmlrpc.php');
const noindex = stringEnum(
  ['automatic', 'on', 'off'],
  '`X-Robots-Tag: noindex` on every page; `automatic`: in staging and development environments. Default domains always send it',
);
const ranges = (description: string) =>
  Type.Array(Type.String({ maxLength: 64 }), { maxItems: MOST_RANGES, description });
const blocked = ranges('IP addresses and ranges (CIDR) that get 403; sorted, without ranges inside others');
const allowed = ranges('IP addresses and ranges (CIDR) that are not asked for the password');
const username = Type.String({ pattern: VISITOR_NAME, description: 'by default the name of the install' });

const protectionExample = {
  xmlrpc: 'blocked' as const,
  blocked_addresses: ['192.0.2.0/24', '2001:db8::/48'],
  noindex: 'automatic' as const,
  password: {
    enabled: true,
    username: 'shop-staging',
    password: 'mirth-cobalt-tundra-83',
    allowed_addresses: ['198.51.100.7'],
  },
};

export const protectionSchema = component(
  'Protection',
  Type.Object(
    {
      xmlrpc,
      blocked_addresses: blocked,
      noindex,
      password: component(
        'VisitorPassword',
        Type.Object({
          enabled: Type.Boolean({ description: 'whether visitors must enter a user name and a password' }),
          username,
          password: nullableString('null before the first one, and for credentials that only read'),
          allowed_addresses: allowed,
        }),
        protectionExample.password,
      ),
    },
    { description: 'Who may visit a website' },
  ),
  protectionExample,
);

const updateProtectionSchema = component(
  'UpdateProtection',
  Type.Object({
    xmlrpc: Type.Optional(xmlrpc),
    blocked_addresses: Type.Optional(blocked),
    noindex: Type.Optional(noindex),
    password: Type.Optional(
      component(
        'UpdateVisitorPassword',
        Type.Object({
          enabled: Type.Optional(Type.Boolean()),
          username: Type.Optional(username),
          password: Type.Optional(
            Type.Unsafe<string | null>({
              type: ['string', 'null'],
              minLength: 8,
              maxLength: 64,
              pattern: '^[^\\u0000-\\u001f\\u007f]*$',
              description: 'null: Homeport chooses one',
            }),
          ),
          allowed_addresses: Type.Optional(allowed),
        }),
        { enabled: true, username: 'client', password: null },
      ),
    ),
  }),
  { xmlrpc: 'blocked', password: { enabled: true, username: 'client', password: null } },
);

export const updateProtectionBody: BodyDefinition<typeof updateProtectionSchema> = {
  resource: 'Protection',
  schema: updateProtectionSchema,
  rules: { blocked_addresses: faultOfRange, 'password.allowed_addresses': faultOfRange },
  texts: {
    'password.username': {
      invalid: { message: 'A user name is 1 to 64 letters, digits and characters of ._@-' },
    },
    'password.password': {
      invalid: { message: 'A password has 8 to 64 characters, without control characters' },
      too_long: { message: 'A password has at most 64 characters' },
    },
  },
};
