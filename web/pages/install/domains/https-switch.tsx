import { useQueryClient } from '@tanstack/react-query';
import { useId, useState } from 'react';
import { say, sayFailure } from '../../../components/toast.tsx';
import type { Domain } from '../queries.ts';
import { changeDomain } from './change-domain.ts';
import styles from './domains.module.css';

/** Whether visitors by HTTP are sent to HTTPS. */
export function HttpsSwitch({ installId, domain }: { installId: string; domain: Domain }) {
  const queries = useQueryClient();
  const id = useId();
  const [pending, setPending] = useState(false);

  async function turn() {
    setPending(true);
    try {
      await changeDomain(queries, installId, domain.id, { secure_all_urls: !domain.secure_all_urls });
      say(
        domain.secure_all_urls
          ? `Visitors of ${domain.name} may use HTTP again.`
          : `Visitors of ${domain.name} are sent to HTTPS.`,
      );
    } catch (error) {
      sayFailure(error);
    } finally {
      setPending(false);
    }
  }

  return (
    <span className={styles.switch}>
      <input
        id={id}
        type="checkbox"
        role="switch"
        checked={domain.secure_all_urls}
        aria-checked={domain.secure_all_urls}
        aria-disabled={pending}
        onChange={() => {
          if (!pending) void turn();
        }}
      />
      <label htmlFor={id}>
        Send visitors <span className="visually-hidden">of {domain.name} </span>to HTTPS
      </label>
    </span>
  );
}
