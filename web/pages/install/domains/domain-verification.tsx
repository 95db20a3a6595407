import { useMutation, useQueryClient } from '@tanstack/react-query';
import { hosting } from '../../../api/client.ts';
import type { Domain } from '../../../api/domains.ts';
import { FormError, unwrap } from '../../../api/failure.ts';
import { Button } from '../../../components/button.tsx';
import { displayName } from '../../../components/display-name.ts';
import { Badge } from '../../../components/notice.tsx';
import { useSecondsUntil } from '../../../components/time.tsx';
import { showFailure, showSuccess } from '../../../components/toast.tsx';
import { reloadDomains } from './change-domain.ts';
import { Records } from './dns-records.tsx';
import styles from './domains.module.css';

/** The ownership of a domain and how to verify it. The steps are open if the domain is not served without it. */
export function DomainVerification({
  installId,
  domain,
  needsProof,
  next,
  mayWork,
}: {
  installId: string;
  domain: Domain;
  needsProof: boolean;
  /** When the next verification is allowed; null for now. */
  next: string | null;
  mayWork: boolean;
}) {
  const owned = displayName(domain.txt_verified_domain);
  if (domain.ownership_status === 'TXT_VERIFIED') {
    return (
      <p>
        <Badge tone="good">Verified</Badge> This account owns {owned}.
      </p>
    );
  }
  const steps = <Steps installId={installId} domain={domain} next={next} mayWork={mayWork} />;
  if (needsProof) {
    return (
      <div className={styles.stack}>
        <p>
          {displayName(domain.name)} is not served yet. Another account has or recently had this domain, or
          your provider requires verification. Verify that you own {owned} to serve it here.
        </p>
        {steps}
      </div>
    );
  }
  return (
    <details className={styles.details}>
      <summary>
        Verify that you own {owned}
        <span className="visually-hidden">, for {displayName(domain.name)}</span>
      </summary>
      <div className={styles.stack}>
        <p>Optional. Prevents other accounts from adding names of {owned}.</p>
        {steps}
      </div>
    </details>
  );
}

function Steps({
  installId,
  domain,
  next,
  mayWork,
}: {
  installId: string;
  domain: Domain;
  next: string | null;
  mayWork: boolean;
}) {
  const { txt_verification_key: name, txt_verification_value: value } = domain;
  return (
    <>
      {name !== null && value !== null && (
        <>
          <p>Add this record to the DNS of {displayName(domain.txt_verified_domain)}:</p>
          <Records domain={displayName(domain.name)} records={[{ type: 'TXT', name, value }]} />
          <p className={styles.soft}>
            The record covers all names of the domain. Homeport also checks for it regularly, so you can leave
            this page.
          </p>
        </>
      )}
      {mayWork && (
        <div className={styles.row}>
          <VerifyButton
            installId={installId}
            domain={domain}
            next={next}
            label={name === null ? 'Show TXT record' : 'Verify'}
          />
        </div>
      )}
    </>
  );
}

function VerifyButton({
  installId,
  domain,
  next,
  label,
}: {
  installId: string;
  domain: Domain;
  next: string | null;
  label: string;
}) {
  const queries = useQueryClient();
  const seconds = useSecondsUntil(next);
  const asked = domain.txt_verification_key !== null;

  const verify = useMutation({
    mutationFn: () =>
      unwrap(
        hosting.POST('/installs/{install_id}/domains/{domain_id}/verification', {
          params: { path: { install_id: installId, domain_id: domain.id } },
        }),
      ),
    onSuccess: ({ txt_verified_time: verified }) => {
      const owned = displayName(domain.txt_verified_domain);
      if (verified !== null) showSuccess(`${owned} is verified.`);
      else if (asked)
        showFailure(
          new FormError(`Could not find the TXT record of ${owned} yet. DNS changes can take an hour.`),
        );
    },
    onError: showFailure,
    onSettled: () => reloadDomains(queries, installId),
  });

  const shown = seconds > 0 ? `${label} in ${seconds} s` : label;
  return (
    <Button
      small
      pending={verify.isPending}
      disabled={seconds > 0}
      aria-label={`${shown}: ${displayName(domain.name)}`}
      onClick={() => verify.mutate()}
    >
      {shown}
    </Button>
  );
}
