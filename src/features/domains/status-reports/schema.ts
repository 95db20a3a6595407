import { type Static, Type, uuid } from '../../../api/schema.ts';

/** The header of a DNS record (docs/api.md, Status reports). */
const hdr = Type.Object({
  name: Type.String(),
  rrtype: Type.Integer(),
  class: Type.Integer(),
  ttl: Type.Integer(),
  rdlength: Type.Integer(),
});

const subject = Type.Object({
  common_name: Type.String(),
  organization: Type.Array(Type.String()),
  organizational_unit: Type.Array(Type.String()),
  country: Type.Array(Type.String()),
  province: Type.Array(Type.String()),
  locality: Type.Array(Type.String()),
});

/** Findings about one domain (docs/api.md, Status reports). */
export const domainCheckSchema = Type.Object({
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
  ns: Type.Array(Type.Object({ host: Type.String() })),
  mx: Type.Array(Type.Object({ Host: Type.String(), Pref: Type.Integer() })),
  txt: Type.Array(Type.String()),
  ip: Type.Array(Type.String()),
  address: Type.Array(Type.String()),
  soa: Type.Array(
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
  ),
  caa: Type.Array(Type.Object({ hdr, flag: Type.Integer(), tag: Type.String(), value: Type.String() })),
  aname: Type.Array(Type.Object({ hdr, a: Type.String() })),
  ssl: Type.Object({
    status: Type.String(),
    issuer: Type.String(),
    not_before: Type.String(),
    not_after: Type.String(),
    error: Type.String(),
    serial_number: Type.String(),
    common_name: Type.String(),
    dns_names: Type.Array(Type.String()),
    sans: Type.Array(Type.String()),
    signature_algorithm: Type.Integer({ description: 'the number that Go’s crypto/x509 gives it' }),
    subject,
  }),
});

export const domainReportSchema = Type.Object(
  {
    complete: Type.Boolean(),
    id: uuid(),
    install_name: Type.String(),
    install_ip: Type.String(),
    admin: Type.Boolean(),
    domains: Type.Array(domainCheckSchema),
  },
  { description: 'Observations of a domain from outside' },
);

export type DomainReport = Static<typeof domainReportSchema>;
