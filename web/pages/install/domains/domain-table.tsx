import { Link } from 'wouter';
import { useReport } from '../../../api/domains.ts';
import { displayName } from '../../../components/display-name.ts';
import { DomainName } from '../../../components/domain-name.tsx';
import { Badge, Tag } from '../../../components/notice.tsx';
import { useQueryParameters } from '../../../components/query-parameters.ts';
import { type Column, RowMenu, Table } from '../../../components/table.tsx';
import { useNow } from '../../../components/time.tsx';
import { DomainActions } from './domain-actions.tsx';
import { type ListedDomain, reportIdOf } from './domain-drawer.tsx';
import { daysLeft, networkLabel, primaryWarning, tlsLabel } from './domain-labels.ts';
import styles from './domains.module.css';
import { checkLabel } from './report-labels.ts';

/** Each row loads the last report, so a page has few rows. */
const ROWS_A_PAGE = 20;
const EVERY_MINUTE_MS = 60_000;

/** The query parameter with the ID of the domain in the drawer. */
export const SHOWN_DOMAIN = 'domain';

/** The domains of an install, one line each. The name opens the drawer, whose domain is in the address. */
export function DomainTable({ domains, mayWork }: { domains: readonly ListedDomain[]; mayWork: boolean }) {
  const { addressWith } = useQueryParameters();
  const now = useNow(EVERY_MINUTE_MS);
  const addressOf = ({ domain }: ListedDomain) => addressWith({ [SHOWN_DOMAIN]: domain.id });
  const columns: Column<ListedDomain>[] = [
    {
      id: 'name',
      header: 'Domain',
      rowHeader: true,
      line: { share: 34, text: ({ domain }) => displayName(domain.name) },
      sortBy: ({ domain }) => displayName(domain.name),
      cell: (row) => (
        <Link href={addressOf(row)}>
          <DomainName name={row.domain.name} />
        </Link>
      ),
    },
    {
      id: 'role',
      header: 'Role',
      line: { share: 26, text: roleOf },
      sortBy: roleOf,
      cell: (row) => <Role {...row} />,
    },
    {
      id: 'status',
      header: 'Status',
      sortBy: ({ domain, state }) => networkLabel(domain, state).word,
      cell: ({ domain, state }) => {
        const { tone, word } = networkLabel(domain, state);
        return <Badge tone={tone}>{word}</Badge>;
      },
    },
    {
      id: 'certificate',
      header: 'Certificate',
      sortBy: ({ state }) => state?.certificate?.not_after ?? '',
      cell: (row) => <CertificateCell {...row} now={now} />,
    },
    {
      id: 'check',
      header: 'Last check',
      optional: true,
      cell: (row) => <CheckCell {...row} />,
    },
    {
      id: 'actions',
      header: 'Actions',
      cell: (row) => {
        const { install, domain, all, state } = row;
        const details = [{ label: 'Details', href: addressOf(row) }];
        if (!mayWork) return <RowMenu name={displayName(domain.name)} entries={details} />;
        return (
          <DomainActions
            install={install}
            domain={domain}
            all={all}
            isCname={state?.is_cname ?? false}
            needsProof={state?.needs_proof ?? false}
            warning={primaryWarning(domain, state)}
            menu={details}
          />
        );
      },
    },
  ];
  const isChecked = domains.some(({ state }) => state?.report_id);
  return (
    <Table
      caption="Domains of the install"
      columns={isChecked ? columns : columns.filter(({ id }) => id !== 'check')}
      rows={domains}
      rowKey={({ domain }) => domain.id}
      pageSize={ROWS_A_PAGE}
    />
  );
}

/** Returns what a domain is for, as text; empty for a further domain of the website. */
function roleOf({ domain, state }: ListedDomain): string {
  const [target] = domain.redirects_to;
  return [
    ...(domain.primary ? ['Primary'] : []),
    ...(state?.is_cname ? ['Default domain'] : []),
    ...(target ? [`Redirects to ${displayName(target.name)}`] : []),
  ].join(', ');
}

function Role(row: ListedDomain) {
  const [target] = row.domain.redirects_to;
  if (roleOf(row) === '') return null;
  return (
    <span className={styles.role}>
      {row.domain.primary && <Tag>Primary</Tag>}
      {row.state?.is_cname && <Tag>Default domain</Tag>}
      {target && (
        <span>
          Redirects to <DomainName name={target.name} />
        </span>
      )}
    </span>
  );
}

/** How HTTPS works for a domain. A certificate that ends soon shows how long it stays valid. */
function CertificateCell({ domain, state, now }: ListedDomain & { now: Date }) {
  const certificate = state?.certificate ?? null;
  const left = certificate && daysLeft(certificate.not_after, now);
  const { tone, word } = left !== null && left.tone !== 'good' ? left : tlsLabel(domain, certificate);
  return <Badge tone={tone}>{word}</Badge>;
}

/** The result of the last check, with its sentence as the tooltip. */
function CheckCell({ install, domain, state, twinState }: ListedDomain) {
  const { data: report } = useReport(install.id, reportIdOf(state, twinState));
  const check = report?.domains.find(({ name }) => name === domain.name);
  if (!check) return report?.complete === false ? <Badge tone="busy">Checking</Badge> : null;
  const { word, tone } = checkLabel(check, domain, state);
  return (
    <span title={check.result}>
      <Badge tone={tone}>{word}</Badge>
    </span>
  );
}
