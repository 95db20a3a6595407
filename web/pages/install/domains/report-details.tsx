import type { ReactNode } from 'react';
import type { DomainCheck } from '../../../api/domains.ts';
import { Badge } from '../../../components/notice.tsx';
import { Facts } from '../../../components/page.tsx';
import { Time } from '../../../components/time.tsx';
import { disagreement, tlsLabel } from './report-labels.ts';

/** The details of a status report about one domain. */
export function ReportDetails({ check }: { check: DomainCheck }) {
  const facts: (readonly [string, ReactNode] | false)[] = [
    ['Addresses', check.ip.length > 0 ? <Lines key="ip" lines={check.ip} /> : 'none'],
    disagreement(check) && ['Addresses at its name servers', <Lines key="address" lines={check.address} />],
    check.cname !== '' && ['CNAME', check.cname],
    check.ns.length > 0 && ['Name servers', <Lines key="ns" lines={check.ns.map(({ host }) => host)} />],
    check.dns_provider !== '' && ['DNS provider', check.dns_provider],
    check.http_forwarded_list !== '' && [
      'Redirects',
      <Lines key="redirects" lines={check.http_forwarded_list.split(' -> ')} />,
    ],
    ['Certificate', <Certificate key="ssl" ssl={check.ssl} />],
    [
      'CAA',
      check.caa.length > 0 ? (
        <Lines key="caa" lines={check.caa.map(({ flag, tag, value }) => `${flag} ${tag} "${value}"`)} />
      ) : (
        'none (any authority may issue)'
      ),
    ],
    check.mx.length > 0 && [
      'Mail servers',
      <Lines key="mx" lines={check.mx.map(({ Host, Pref }) => `${Host} (${Pref})`)} />,
    ],
    check.txt.length > 0 && ['TXT', <Lines key="txt" lines={check.txt} />],
    check.soa.length > 0 && [
      'Zone',
      <Lines key="soa" lines={check.soa.map(({ ns, serial }) => `${ns}, serial ${serial}`)} />,
    ],
    check.cluster_id !== '' && ['Host', check.cluster_id],
  ];
  return <Facts facts={facts.filter((fact) => fact !== false)} />;
}

function Certificate({ ssl }: { ssl: DomainCheck['ssl'] }) {
  const { word, tone } = tlsLabel(ssl.status);
  return (
    <>
      <Badge tone={tone}>{word}</Badge>
      {ssl.error !== '' && <p>{ssl.error}</p>}
      {ssl.issuer !== '' && <p>Issued by {ssl.issuer}</p>}
      {ssl.not_after !== '' && (
        <p>
          Valid from <Time at={ssl.not_before} exact /> to <Time at={ssl.not_after} exact />
        </p>
      )}
      {ssl.dns_names.length > 0 && <p>For {ssl.dns_names.join(', ')}</p>}
    </>
  );
}

function Lines({ lines }: { lines: readonly string[] }) {
  return lines.map((line, index) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: a redirect chain may contain an address twice
    <div key={index}>{line}</div>
  ));
}
