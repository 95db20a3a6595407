import { EXAMPLE_ID } from '../../../api/example-ids.ts';
import {
  component,
  emailAddress,
  nullableTimestamp,
  stringEnum,
  Type,
  timestamp,
} from '../../../api/schema.ts';
import type { BodyDefinition } from '../../../api/validation.ts';

/** Fields that this platform does not use are null (docs/api.md, Certificates). */
const nullableText = (description?: string) =>
  Type.Unsafe<string | null>({ type: ['string', 'null'], ...(description ? { description } : {}) });

const filesExample = { key: '', cert: '-----BEGIN CERTIFICATE-----\nMIIB…\n-----END CERTIFICATE-----\n' };

const certificateFiles = component(
  'CertificateFiles',
  Type.Object({
    key: Type.String({ description: 'PEM; empty for partial users, and for an uploaded certificate' }),
    cert: Type.String({ description: 'PEM, leaf first' }),
  }),
  filesExample,
);

const certificateExample = {
  id: 42,
  account: EXAMPLE_ID.account,
  auth_file: null,
  approver_email: null,
  common_name: 'www.example.com',
  cancel_time: null,
  cert_source: 'LETS_ENCRYPT' as const,
  ordered_time: '2026-01-31T09:31:00.000Z',
  order_id: '123456789',
  status: 'ENABLED' as const,
  parent_id: null,
  provider_order_id: 'https://acme.example.org/order/1/123456789',
  approved_time: '2026-01-31T09:31:00.000Z',
  expires_time: '2026-05-01T08:30:59.000Z',
  auto_renew: true,
  wildcard: false,
  domains: ['www.example.com'],
  serial_number: '03A1B2C3D4E5F60718293A4B5C6D7E8F9012',
  issuer: 'Example Authority R3',
};

export const certificateSchema = component(
  'Certificate',
  Type.Object({
    id: Type.Integer(),
    account: nullableText(),
    auth_file: nullableText(),
    approver_email: nullableText(),
    common_name: Type.String(),
    cancel_time: nullableTimestamp(),
    cert_source: stringEnum(['LETS_ENCRYPT', 'THIRD_PARTY', 'SELF_SIGNED', 'CERT_SOURCE_UNSPECIFIED']),
    ordered_time: timestamp(),
    order_id: nullableText(),
    status: stringEnum([
      'ENABLED',
      'DISABLED',
      'EXPIRED',
      'CANCELED',
      'REJECTED',
      'SUBMITTED',
      'SSL_STATE_UNSPECIFIED',
    ]),
    parent_id: nullableText(),
    provider_order_id: nullableText(),
    approved_time: timestamp(),
    expires_time: timestamp(),
    auto_renew: Type.Boolean(),
    wildcard: Type.Boolean(),
    domains: Type.Array(Type.String(), { description: 'the names that the certificate is valid for' }),
    serial_number: Type.String({ description: 'hexadecimal, upper case' }),
    issuer: Type.String({ description: 'common name of the issuer' }),
  }),
  certificateExample,
);

export const certificateInformationSchema = component(
  'CertificateInformation',
  Type.Object(
    {
      cert_name: Type.String(),
      cert_info: certificateFiles,
      certificate: certificateSchema,
      criteria: Type.String({ description: 'the host name that the certificate was looked up by' }),
    },
    { description: 'The certificate that the edge serves for a domain' },
  ),
  {
    cert_name: 'www.example.com',
    cert_info: filesExample,
    certificate: certificateExample,
    criteria: 'www.example.com',
  },
);

export const certificateListSchema = component(
  'CertificateList',
  Type.Object(
    {
      certificates: Type.Array(certificateSchema),
      next_page_token: Type.String({ description: '`offset` of the next page; empty on the last' }),
    },
    { description: 'The certificates of an install' },
  ),
  { certificates: [certificateExample], next_page_token: '' },
);

const PEM_EXAMPLE =
  '-----BEGIN CERTIFICATE-----\nMIIB…\n-----END CERTIFICATE-----\n-----BEGIN CERTIFICATE-----\nMIIC…\n-----END CERTIFICATE-----\n';
/** Room for ten certificates in Base64. */
const LONGEST_CHAIN = 100_000;
const LONGEST_KEY = 20_000;

export const uploadSchema = component(
  'ImportThirdPartyCertificate',
  Type.Object({
    certificate: Type.String({
      maxLength: LONGEST_CHAIN,
      description:
        'PEM, or PEM in Base64: the server certificate, then the intermediate certificates; the root of a private authority too',
    }),
    private_key: Type.String({
      maxLength: LONGEST_KEY,
      description: 'PEM, or PEM in Base64: PKCS#8, PKCS#1 or SEC1, without a passphrase',
    }),
  }),
  {
    certificate: PEM_EXAMPLE,
    private_key: '-----BEGIN PRIVATE KEY-----\nMIGH…\n-----END PRIVATE KEY-----\n',
  },
);

export const uploadBody: BodyDefinition<typeof uploadSchema> = {
  resource: 'Certificate',
  schema: uploadSchema,
};

export const uploadedSchema = component(
  'ThirdPartyCertificate',
  Type.Object(
    {
      certificate: Type.String({ description: 'as it was sent' }),
      private_key: Type.String({ description: 'always empty' }),
      domains: Type.Array(Type.String(), {
        description: 'the domains that have the certificate from now on',
      }),
      expires_time: timestamp(),
      serial_number: Type.String({ description: 'hexadecimal, upper case' }),
    },
    { description: 'An uploaded certificate' },
  ),
  {
    certificate: PEM_EXAMPLE,
    private_key: '',
    domains: ['example.com', 'www.example.com'],
    expires_time: '2027-01-31T23:59:59.000Z',
    serial_number: '03A1B2C3D4E5F60718293A4B5C6D7E8F9012',
  },
);

/** Contact data of version 1.17. It is accepted, not checked and not kept. */
export const orderSchema = component(
  'OrderCertificate',
  Type.Object(
    {
      email_address: emailAddress(),
      given_name: Type.String(),
      family_name: Type.String(),
      region_code: Type.String({ description: 'ISO 3166-1 alpha-2' }),
      state: Type.Optional(Type.String()),
      city: Type.Optional(Type.String()),
      phone: Type.Optional(Type.String()),
    },
    { description: 'Contact data. It is accepted, and not kept.' },
  ),
  { email_address: 'ada@example.com', given_name: 'Ada', family_name: 'Example', region_code: 'GB' },
);
