import { useState } from 'react';
import type { Domain, DomainState } from '../../../api/domains.ts';
import type { Install } from '../../../api/installs.ts';
import { Button } from '../../../components/button.tsx';
import { displayName } from '../../../components/display-name.ts';
import { Badge, Tag } from '../../../components/notice.tsx';
import { Time, useNow } from '../../../components/time.tsx';
import { CertificateDialog } from './certificate-dialog.tsx';
import { DnsRecords } from './dns-records.tsx';
import { DomainActions } from './domain-actions.tsx';
import { DomainCheckPanel } from './domain-check.tsx';
import { CERTIFICATE_SOURCES, daysLeft, networkLabel, primaryWarning, tlsLabel } from './domain-labels.ts';
import { DomainVerification } from './domain-verification.tsx';
import styles from './domains.module.css';
import { HttpsSwitch } from './https-switch.tsx';

const EVERY_MINUTE_MS = 60_000;

/** A domain with its status, DNS records and actions. */
export function DomainCard({
  install,
  domain,
  all,
  state,
  twinState,
  nextCheck,
  nextVerification,
  mayWork,
}: {
  install: Install;
  domain: Domain;
  all: Domain[];
  /** Undefined until loaded. */
  state: DomainState | undefined;
  /** State of its www twin, whose reports also cover this domain. */
  twinState: DomainState | undefined;
  nextCheck: string | null;
  /** When a domain of the install may be verified again; null for now. */
  nextVerification: string | null;
  mayWork: boolean;
}) {
  const network = networkLabel(domain, state);
  const tls = tlsLabel(domain, state?.certificate ?? null);
  const [target] = domain.redirects_to;
  return (
    <li className={styles.card}>
      <div className={styles.head}>
        <h3 className={styles.name}>{displayName(domain.name)}</h3>
        <div className={styles.badges}>
          {domain.primary && <Tag>Primary</Tag>}
          {state?.is_cname && <Tag>Default domain</Tag>}
          <Badge tone={network.tone}>{network.word}</Badge>
          <Badge tone={tls.tone}>{tls.word}</Badge>
        </div>
      </div>
      {target && (
        <p>
          Redirects to <strong>{displayName(target.name)}</strong>.
        </p>
      )}
      {state !== undefined && !state.is_cname && (
        <DomainVerification
          installId={install.id}
          domain={domain}
          needsProof={state.needs_proof}
          next={nextVerification}
          mayWork={mayWork}
        />
      )}
      {domain.duplicate && state?.needs_proof === false && (
        <p>Another install of this account serves this domain. Remove it there to serve it here.</p>
      )}
      <CertificateLine install={install} domain={domain} state={state} />
      {state !== undefined && !state.is_cname && <DnsRecords domain={domain} />}
      <DomainCheckPanel
        installId={install.id}
        domain={domain}
        reportId={state?.report_id ?? twinState?.report_id ?? null}
        checkedAt={state?.checked_at ?? null}
        next={nextCheck}
        mayWork={mayWork}
      >
        <DomainActions
          install={install}
          domain={domain}
          all={all}
          isCname={state?.is_cname ?? false}
          needsProof={state?.needs_proof ?? false}
          warning={primaryWarning(domain, state)}
        />
        <HttpsSwitch installId={install.id} domain={domain} warning={httpsWarning(state)} />
      </DomainCheckPanel>
    </li>
  );
}

/** Returns why browsers would warn visitors over HTTPS; null if they would not. */
function httpsWarning(state: DomainState | undefined): string | null {
  if (state?.certificate === null) return 'This domain has no certificate yet.';
  return state?.certificate.source === 'SELF_SIGNED' ? 'The certificate is self-signed.' : null;
}

/** The certificate of a domain and its expiry, and why there is none from an authority. */
function CertificateLine({
  install,
  domain,
  state,
}: {
  install: Install;
  domain: Domain;
  state: DomainState | undefined;
}) {
  const [open, setOpen] = useState(false);
  const now = useNow(EVERY_MINUTE_MS);
  if (state === undefined) return null;
  const { certificate } = state;
  const left = certificate && daysLeft(certificate.not_after, now);
  return (
    <>
      <div className={styles.row}>
        {certificate && left ? (
          <>
            <span>
              Certificate {CERTIFICATE_SOURCES[certificate.source]}, valid until{' '}
              <Time at={certificate.not_after} exact />
            </span>
            <Badge tone={left.tone}>{left.word}</Badge>
            <Button
              small
              aria-label={`Certificate of ${displayName(domain.name)}`}
              onClick={() => setOpen(true)}
            >
              Certificate
            </Button>
          </>
        ) : (
          <span className={styles.soft}>No certificate yet.</span>
        )}
      </div>
      {state.ssl_reason !== null && <p>Could not get a certificate: {state.ssl_reason}</p>}
      <CertificateDialog open={open} onOpenChange={setOpen} install={install} domain={domain} />
    </>
  );
}
