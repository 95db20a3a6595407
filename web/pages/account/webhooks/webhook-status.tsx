import type { Webhook } from '../../../api/webhooks.ts';
import { Badge } from '../../../components/notice.tsx';
import styles from '../account.module.css';

/** Whether a webhook is on, and why Homeport switched it off. */
export function WebhookStatus({ webhook: { enabled, disabled_reason } }: { webhook: Webhook }) {
  if (enabled) return <Badge tone="good">On</Badge>;
  return (
    <span className={styles.named}>
      <span>
        <Badge tone={disabled_reason === null ? 'plain' : 'bad'}>Off</Badge>
      </span>
      {disabled_reason !== null && <span className={styles.soft}>{disabled_reason}</span>}
    </span>
  );
}
