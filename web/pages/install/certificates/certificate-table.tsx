import { Link } from 'wouter';
import { isUnderWay, type Operation } from '../../../api/operations.ts';
import { Badge, Tag } from '../../../components/notice.tsx';
import { useQueryParameters } from '../../../components/query-parameters.ts';
import { type Column, RowMenu, Table } from '../../../components/table.tsx';
import { Time, useNow } from '../../../components/time.tsx';
import type { Label } from '../domains/domain-labels.ts';
import { certificateLabel, orderObstacle, SOURCES } from './certificate-sentences.ts';
import styles from './certificates.module.css';
import { type ListedCertificate, titleOf } from './listed-certificates.ts';

const ROWS_A_PAGE = 50;
const EVERY_MINUTE_MS = 60_000;

/** The query parameter with the ID of the first domain whose certificate is in the drawer. A renewal keeps it. */
export const SHOWN_CERTIFICATE = 'certificate';

/** A certificate with the latest order of each of its domains, if it is to be shown. */
export interface ShownCertificate {
  listed: ListedCertificate;
  orders: readonly (Operation | null)[];
}

/** The certificates of an install, one line each. The name opens the drawer, whose certificate is in the address. */
export function CertificateTable({ certificates }: { certificates: readonly ShownCertificate[] }) {
  const { addressWith } = useQueryParameters();
  const now = useNow(EVERY_MINUTE_MS);
  const addressOf = ({ listed: { domains } }: ShownCertificate) =>
    addressWith({ [SHOWN_CERTIFICATE]: domains[0].domain.id });
  const columns: Column<ShownCertificate>[] = [
    {
      id: 'name',
      header: 'Domain',
      rowHeader: true,
      line: { share: 36, text: ({ listed }) => titleOf(listed) },
      sortBy: ({ listed }) => titleOf(listed),
      cell: (row) => <Link href={addressOf(row)}>{titleOf(row.listed)}</Link>,
    },
    {
      id: 'status',
      header: 'Status',
      sortBy: (row) => statusOf(row, now).word,
      cell: (row) => {
        const { tone, word } = statusOf(row, now);
        return <Badge tone={tone}>{word}</Badge>;
      },
    },
    {
      id: 'source',
      header: 'Source',
      sortBy: ({ listed: { certificate } }) => (certificate ? SOURCES[certificate.cert_source] : ''),
      cell: ({ listed: { certificate } }) => certificate && <Tag>{SOURCES[certificate.cert_source]}</Tag>,
    },
    {
      id: 'issuer',
      header: 'Issuer',
      optional: true,
      line: { share: 24, text: issuerOf },
      cell: issuerOf,
    },
    {
      id: 'expires',
      header: 'Expires',
      sortBy: ({ listed: { certificate } }) => certificate?.expires_time ?? '',
      cell: ({ listed: { certificate } }) =>
        certificate && (
          <span className={styles.whole}>
            <Time at={certificate.expires_time} />
          </span>
        ),
    },
    {
      id: 'actions',
      header: 'Actions',
      cell: (row) => (
        <RowMenu
          name={`the certificate of ${titleOf(row.listed)}`}
          entries={[{ label: 'Details', href: addressOf(row) }]}
        />
      ),
    },
  ];
  return (
    <Table
      caption="Certificates of the install"
      columns={columns}
      rows={certificates}
      rowKey={({ listed }) => listed.id}
      pageSize={ROWS_A_PAGE}
    />
  );
}

const issuerOf = ({ listed: { certificate } }: ShownCertificate): string =>
  certificate === null || certificate.cert_source === 'SELF_SIGNED' ? '' : certificate.issuer;

/** What matters most: an order in progress, a certificate that visitors are warned of, the last order that failed. */
function statusOf({ listed: { certificate, domains }, orders }: ShownCertificate, now: Date): Label {
  if (orders.some((order) => order !== null && isUnderWay(order))) return { word: 'Ordering', tone: 'busy' };
  const label = certificateLabel(certificate, now);
  const hasFailed = domains.some(
    (served) => orderObstacle(served) === null && served.state.ssl_reason !== null,
  );
  return hasFailed && label.tone !== 'good' ? { word: 'Order failed', tone: 'bad' } : label;
}
