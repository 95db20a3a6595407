import { EXAMPLE_ID } from '../../../api/example-ids.ts';
import { component, type Static, Type, uuid } from '../../../api/schema.ts';

const headerExample = { name: 'www.example.com.', rrtype: 1, class: 1, ttl: 300, rdlength: 4 };

/** The header of a DNS record (docs/api.md, Status reports). */
const hdr = component(
  'DnsRecordHeader',
  Type.Object({
    name: Type.String(),
    rrtype: Type.Integer(),
    class: Type.Integer(),
    ttl: Type.Integer(),
    rdlength: Type.Integer(),
  }),
  headerExample,
);

const subjectExample = {
  common_name: 'www.example.com',
  organization: [],
  organizational_unit: [],
  country: [],
  province: [],
  locality: [],
};

const subject = component(
  'CertificateSubject',
  Type.Object({
    common_name: Type.String(),
    organization: Type.Array(Type.String()),
    organizational_unit: Type.Array(Type.String()),
    country: Type.Array(Type.String()),
    province: Type.Array(Type.String()),
    locality: Type.Array(Type.String()),
  }),
  subjectExample,
);

const nsRecord = component('NsRecord', Type.Object({ host: Type.String() }), { host: 'ns1.example.org.' });
const mxRecord = component('MxRecord', Type.Object({ Host: Type.String(), Pref: Type.Integer() }), {
  Host: 'mail.example.org.',
  Pref: 10,
});
const soaRecord = component(
  'SoaRecord',
  Type.Object({
    hdr,
    ns: Type.String(),
    mbox: Type.String(),
    serial: Type.Integer(),
    refresh: Type.Integer(),
    retry: Type.Integer(),
    expire: Type.Integer(),
    minttl: Type.Integer(),
  }),
  {
    hdr: { name: 'example.com.', rrtype: 6, class: 1, ttl: 3600, rdlength: 54 },
    ns: 'ns1.example.org.',
    mbox: 'hostmaster.example.org.',
    serial: 2026013101,
    refresh: 7200,
    retry: 3600,
    expire: 1209600,
    minttl: 3600,
  },
);
const caaRecord = component(
  'CaaRecord',
  Type.Object({ hdr, flag: Type.Integer(), tag: Type.String(), value: Type.String() }),
  {
    hdr: { name: 'example.com.', rrtype: 257, class: 1, ttl: 3600, rdlength: 22 },
    flag: 0,
    tag: 'issue',
    value: 'letsencrypt.org',
  },
);
const addressRecord = component('AddressRecord', Type.Object({ hdr, a: Type.String() }), {
  hdr: headerExample,
  a: '203.0.113.10',
});

const sslExample = {
  status: 'verified',
  issuer: "CN=R11,O=Let's Encrypt,C=US",
  not_before: '2026-01-31T08:31:00.000Z',
  not_after: '2026-05-01T08:30:59.000Z',
  error: '',
  serial_number: '04a1b2c3d4e5f60718293a4b5c6d7e8f9012',
  common_name: 'www.example.com',
  dns_names: ['www.example.com'],
  sans: ['www.example.com'],
  signature_algorithm: 4,
  subject: subjectExample,
};

const EMPTY_OR_TIME = 'ISO 8601, UTC; empty without a certificate';

const sslCheck = component(
  'DomainCheckSsl',
  Type.Object({
    status: Type.String(),
    issuer: Type.String(),
    not_before: Type.String({ description: EMPTY_OR_TIME }),
    not_after: Type.String({ description: EMPTY_OR_TIME }),
    error: Type.String(),
    serial_number: Type.String(),
    common_name: Type.String(),
    dns_names: Type.Array(Type.String()),
    sans: Type.Array(Type.String()),
    signature_algorithm: Type.Integer({ description: 'the number that Go’s crypto/x509 gives it' }),
    subject,
  }),
  sslExample,
);

const domainCheckExample = {
  name: 'www.example.com',
  cname: 'shop.sites.example.net.',
  a_record: '203.0.113.10',
  aaaa_record: '',
  result: 'www.example.com answers here over HTTPS.',
  dns_provider: 'example.org',
  install_name: 'shop',
  cluster_id: 'main',
  http_forwarded: '',
  http_forwarded_list: '',
  platform_env_id: EXAMPLE_ID.install,
  complete: true,
  dns_error: false,
  http_error: false,
  ns: [{ host: 'ns1.example.org.' }],
  mx: [],
  txt: [],
  ip: ['203.0.113.10'],
  address: ['203.0.113.10'],
  soa: [],
  caa: [],
  aname: [{ hdr: headerExample, a: '203.0.113.10' }],
  ssl: sslExample,
};

/** Findings about one domain (docs/api.md, Status reports). */
export const domainCheckSchema = component(
  'DomainCheck',
  Type.Object({
    name: Type.String(),
    cname: Type.String(),
    a_record: Type.String(),
    aaaa_record: Type.String(),
    result: Type.String({ description: 'one sentence that a person can act on' }),
    dns_provider: Type.String(),
    install_name: Type.String(),
    cluster_id: Type.String(),
    http_forwarded: Type.String(),
    http_forwarded_list: Type.String(),
    platform_env_id: Type.String(),
    complete: Type.Boolean(),
    dns_error: Type.Boolean(),
    http_error: Type.Boolean(),
    ns: Type.Array(nsRecord),
    mx: Type.Array(mxRecord),
    txt: Type.Array(Type.String()),
    ip: Type.Array(Type.String()),
    address: Type.Array(Type.String()),
    soa: Type.Array(soaRecord),
    caa: Type.Array(caaRecord),
    aname: Type.Array(addressRecord),
    ssl: sslCheck,
  }),
  domainCheckExample,
);

const reportExample = {
  complete: true,
  id: EXAMPLE_ID.report,
  install_name: 'shop',
  install_ip: '203.0.113.10',
  admin: false,
  domains: [domainCheckExample],
};

export const domainReportSchema = component(
  'StatusReport',
  Type.Object(
    {
      complete: Type.Boolean(),
      id: uuid(),
      install_name: Type.String(),
      install_ip: Type.String(),
      admin: Type.Boolean(),
      domains: Type.Array(domainCheckSchema),
    },
    { description: 'Observations of a domain from outside' },
  ),
  reportExample,
);

export const reportEnvelopeSchema = component(
  'StatusReportEnvelope',
  Type.Object({ report: domainReportSchema }),
  { report: reportExample },
);

export const reportReferenceSchema = component(
  'StatusReportReference',
  Type.Object({ report_id: uuid() }, { description: 'Names the report that a request began' }),
  { report_id: EXAMPLE_ID.report },
);

export type DomainReport = Static<typeof domainReportSchema>;
