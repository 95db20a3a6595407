import { type ReactNode, useId } from 'react';
import type { Domain, DomainState } from '../../../api/domains.ts';
import type { Install } from '../../../api/installs.ts';
import { Dialog } from '../../../components/dialog.tsx';
import { displayName } from '../../../components/display-name.ts';
import { DomainName } from '../../../components/domain-name.tsx';
import { Badge, Tag } from '../../../components/notice.tsx';
import { Certificate } from './certificate.tsx';
import { DnsRecords } from './dns-records.tsx';
import { DomainActions } from './domain-actions.tsx';
import { DomainCheckPanel } from './domain-check.tsx';
import { networkLabel, primaryWarning, tlsLabel } from './domain-labels.ts';
import { DomainVerification } from './domain-verification.tsx';
import styles from './domains.module.css';
import { HttpsSwitch } from './https-switch.tsx';

/** A domain of an install with what its row and its drawer show. */
export interface ListedDomain {
  install: Install;
  domain: Domain;
  /** All domains of the install. */
  all: Domain[];
  /** Undefined until loaded. */
  state: DomainState | undefined;
  /** State of its www twin, whose reports also cover this domain. */
  twinState: DomainState | undefined;
}

/** The details of a domain: status, ownership, certificate, DNS records, checks and actions. */
export function DomainDrawer({
  onClose,
  ...shown
}: ListedDomain & {
  nextCheck: string | null;
  /** When a domain of the install may be verified again; null for now. */
  nextVerification: string | null;
  mayWork: boolean;
  onClose(): void;
}) {
  const { domain, state } = shown;
  const network = networkLabel(domain, state);
  const tls = tlsLabel(domain, state?.certificate ?? null);
  return (
    <Dialog
      drawer
      open
      onOpenChange={(open) => {
        if (!open) onClose();
      }}
      title={<DomainName name={domain.name} />}
      description={
        <span className={styles.badges}>
          {domain.primary && <Tag>Primary</Tag>}
          {state?.is_cname && <Tag>Default domain</Tag>}
          <Badge tone={network.tone}>{network.word}</Badge>
          <Badge tone={tls.tone}>{tls.word}</Badge>
        </span>
      }
    >
      <DomainDetails {...shown} />
    </Dialog>
  );
}

function DomainDetails({
  install,
  domain,
  all,
  state,
  twinState,
  nextCheck,
  nextVerification,
  mayWork,
}: ListedDomain & { nextCheck: string | null; nextVerification: string | null; mayWork: boolean }) {
  const [target] = domain.redirects_to;
  return (
    <>
      {target && (
        <p>
          Redirects to <strong>{displayName(target.name)}</strong>.
        </p>
      )}
      {domain.duplicate && state?.needs_proof === false && (
        <p>Another install of this account serves this domain. Remove it there to serve it here.</p>
      )}
      <DomainCheckPanel
        installId={install.id}
        domain={domain}
        state={state}
        reportId={reportIdOf(state, twinState)}
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
      {state !== undefined && !state.is_cname && (
        <>
          <Part title="DNS">
            <DnsRecords domain={domain} initiallyOpen={networkLabel(domain, state).tone !== 'good'} />
          </Part>
          <Part title="Ownership">
            <DomainVerification
              installId={install.id}
              domain={domain}
              needsProof={state.needs_proof}
              next={nextVerification}
              mayWork={mayWork}
            />
          </Part>
        </>
      )}
      {state !== undefined && (
        <Part title="Certificate">
          {state.certificate === null ? (
            <p className={styles.soft}>No certificate yet.</p>
          ) : (
            <Certificate install={install} domain={domain} />
          )}
          {state.ssl_reason !== null && <p>Could not get a certificate: {state.ssl_reason}</p>}
        </Part>
      )}
    </>
  );
}

/** Returns the last report about a domain: its own, or that of its www twin. */
export const reportIdOf = (state: DomainState | undefined, twinState: DomainState | undefined) =>
  state?.report_id ?? twinState?.report_id ?? null;

function Part({ title, children }: { title: string; children: ReactNode }) {
  const id = useId();
  return (
    <section className={styles.part} aria-labelledby={id}>
      <h3 id={id}>{title}</h3>
      {children}
    </section>
  );
}

/** Returns why browsers would warn visitors over HTTPS; null if they would not. */
function httpsWarning(state: DomainState | undefined): string | null {
  if (state?.certificate === null) return 'This domain has no certificate yet.';
  return state?.certificate.source === 'SELF_SIGNED' ? 'The certificate is self-signed.' : null;
}
