import { EXAMPLE_ID } from '../../../api/example-ids.ts';
import { malformedId } from '../../../api/resource-names.ts';
import {
  component,
  nullable,
  nullableString,
  nullableTimestamp,
  stringEnum,
  Type,
  uuid,
} from '../../../api/schema.ts';
import { type BodyDefinition, NOT_BLANK, type TextRule } from '../../../api/validation.ts';
import { UUID_PATTERN } from '../../../lib/ids.ts';

const redirectTarget = component('DomainReference', Type.Object({ id: uuid(), name: Type.String() }), {
  id: EXAMPLE_ID.otherDomain,
  name: 'example.com',
});

const dnsConfig = component(
  'DomainDnsConfig',
  Type.Object(
    {
      cname: Type.String({ description: 'target for a CNAME record of the name' }),
      a_records: Type.Array(Type.String(), { description: 'addresses for names that cannot have a CNAME' }),
    },
    { description: 'The DNS records that the name needs' },
  ),
  { cname: 'shop.sites.example.net', a_records: ['203.0.113.10'] },
);

const sslState = component(
  'DomainSsl',
  Type.Object({ status: stringEnum(['pending', 'active', 'failed', 'none']) }),
  { status: 'active' },
);

const networkState = component(
  'DomainNetwork',
  Type.Object({ status: stringEnum(['PENDING', 'ACTIVE', 'FAILED']), ssl: sslState }),
  { status: 'ACTIVE', ssl: { status: 'active' } },
);

const networkDetailsExample = {
  dns_config_info: { cname: 'shop.sites.example.net', a_records: ['203.0.113.10'] },
  network_info: { status: 'ACTIVE' as const, ssl: { status: 'active' as const } },
};

const networkDetails = component(
  'DomainNetworkDetails',
  Type.Object({ dns_config_info: dnsConfig, network_info: networkState }),
  networkDetailsExample,
);

const verification = {
  txt_verified_time: nullableTimestamp('time of the verification; null before'),
  txt_verified_domain: Type.String({
    description: 'the registrable domain that the record verifies, including all names below it',
  }),
  txt_verification_key: nullableString('name of the TXT record; null before the first verification request'),
  txt_verification_value: nullableString('value of the TXT record, unique to this account'),
};

const verificationExample = {
  txt_verified_time: null,
  txt_verified_domain: 'example.com',
  txt_verification_key: '_homeport-challenge.example.com',
  txt_verification_value: 'homeport-verification=8d1f6c2ab39e47058c6d',
};

export const domainSchema = component(
  'Domain',
  Type.Object(
    {
      id: uuid(),
      name: Type.String(),
      duplicate: Type.Boolean({ description: 'another install serves the name' }),
      primary: Type.Boolean(),
      network_type: stringEnum(['LEGACY', 'AN', 'GES']),
      network_details: networkDetails,
      redirect_to: nullable(redirectTarget),
      redirects_to: Type.Array(redirectTarget, { description: '`redirect_to` as a list' }),
      secure_all_urls: Type.Boolean({ description: 'redirects HTTP to HTTPS' }),
      ownership_status: stringEnum(['TXT_VERIFIED', 'TXT_VERIFICATION_PENDING']),
      ...verification,
    },
    { description: 'A host name of an install' },
  ),
  {
    id: EXAMPLE_ID.domain,
    name: 'www.example.com',
    duplicate: false,
    primary: false,
    network_type: 'AN',
    network_details: networkDetailsExample,
    redirect_to: null,
    redirects_to: [],
    secure_all_urls: false,
    ownership_status: 'TXT_VERIFICATION_PENDING',
    ...verificationExample,
  },
);

export const verificationSchema = component(
  'DomainVerification',
  Type.Object(
    { id: uuid(), name: Type.String(), ...verification },
    { description: 'The ownership verification of a domain by TXT record' },
  ),
  { id: EXAMPLE_ID.domain, name: 'www.example.com', ...verificationExample },
);

const bulkDomain = {
  id: uuid(),
  name: Type.String(),
  duplicate: Type.Boolean(),
  primary: Type.Boolean(),
  redirect_to: nullable(redirectTarget),
  redirects_to: nullable(redirectTarget),
};

const bulkDomainExample = {
  id: EXAMPLE_ID.domain,
  name: 'www.example.com',
  duplicate: false,
  primary: false,
  redirect_to: null,
  redirects_to: null,
};

const bulkDomainSchema = component(
  'BulkDomain',
  Type.Object(bulkDomain, { description: 'A domain that a bulk request added' }),
  bulkDomainExample,
);

export const bulkDomainsSchema = component(
  'BulkDomains',
  Type.Object(
    { ...bulkDomain, domains: Type.Array(bulkDomainSchema, { description: 'all added domains' }) },
    { description: 'The first added domain, with all added domains in `domains`' },
  ),
  {
    ...bulkDomainExample,
    domains: [
      bulkDomainExample,
      {
        id: EXAMPLE_ID.otherDomain,
        name: 'example.com',
        duplicate: false,
        primary: false,
        redirect_to: { id: EXAMPLE_ID.domain, name: 'www.example.com' },
        redirects_to: { id: EXAMPLE_ID.domain, name: 'www.example.com' },
      },
    ],
  },
);

const nameTexts = {
  required: { summary: 'Domain name is required', message: 'Domain name cannot be empty' },
};

/** The id of a domain, or one of the values for no redirect (docs/api.md, Domains). */
const redirectTo = Type.Optional(
  Type.Unsafe<string | null>({
    type: ['string', 'null'],
    pattern: `^(nil|\\s*)$|${UUID_PATTERN}`,
    description:
      'the id of a domain of the same install to redirect to; `"nil"`, an empty string or null for no redirect',
  }),
);
const redirectTexts = {
  invalid: { summary: malformedId('domain_id'), message: malformedId('domain_id') },
};

export const newDomainSchema = component(
  'CreateDomain',
  Type.Object({
    name: Type.String({ pattern: NOT_BLANK, description: 'a host name, or `*.` and a host name' }),
    primary: Type.Optional(Type.Boolean({ description: 'the main domain of the install' })),
    redirect_to: redirectTo,
  }),
  { name: 'www.example.com', primary: false },
);

/** `faultOfName` validates a name against the platform's own names. */
export const createDomainBody = (faultOfName: TextRule): BodyDefinition<typeof newDomainSchema> => ({
  resource: 'Domain',
  schema: newDomainSchema,
  texts: { name: nameTexts, redirect_to: redirectTexts },
  rules: { name: faultOfName },
});

const BULK_MAXIMUM = 20;

const newBulkDomain = component(
  'DomainToAdd',
  Type.Object({
    name: Type.String({ pattern: NOT_BLANK }),
    redirect_to: Type.Optional(
      Type.Unsafe<string | null>({
        type: ['string', 'null'],
        description: 'a name in this request or of the install',
      }),
    ),
  }),
  { name: 'example.com', redirect_to: 'www.example.com' },
);

export const newDomainsSchema = component(
  'CreateBulkDomains',
  Type.Object({ domains: Type.Array(newBulkDomain, { minItems: 1, maxItems: BULK_MAXIMUM }) }),
  { domains: [{ name: 'www.example.com' }, { name: 'example.com', redirect_to: 'www.example.com' }] },
);

export const bulkDomainsBody = (faultOfName: TextRule): BodyDefinition<typeof newDomainsSchema> => ({
  resource: 'Domain',
  schema: newDomainsSchema,
  texts: { 'domains.name': nameTexts },
  rules: { 'domains.name': faultOfName },
});

export const domainChangeSchema = component(
  'UpdateDomain',
  Type.Object({
    primary: Type.Optional(Type.Boolean({ description: 'the main domain of the install' })),
    redirect_to: redirectTo,
    secure_all_urls: Type.Optional(Type.Boolean({ description: 'redirects HTTP to HTTPS' })),
  }),
  { primary: false, secure_all_urls: true },
);

export const updateDomainBody: BodyDefinition<typeof domainChangeSchema> = {
  resource: 'Domain',
  schema: domainChangeSchema,
  texts: { redirect_to: redirectTexts },
};
