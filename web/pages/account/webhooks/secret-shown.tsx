import { Button } from '../../../components/button.tsx';
import { Copyable } from '../../../components/copy.tsx';
import { useFocusOnMount } from '../../../components/focus-on-mount.ts';
import { useLeaveReason } from '../../../components/leave-reasons.ts';
import { Notice } from '../../../components/notice.tsx';
import { Section } from '../../../components/page.tsx';
import styles from './webhooks.module.css';

/** Shows the secret of a new or rotated webhook once. */
export function SecretShown({
  secret,
  rotated = false,
  onKept,
}: {
  secret: string;
  rotated?: boolean;
  onKept(): void;
}) {
  const first = useFocusOnMount<HTMLDivElement>();
  useLeaveReason('The secret is not shown again. Without it, your receiver cannot verify events.');
  return (
    <Section title="Secret">
      <div className={styles.steps}>
        <Notice ref={first} tone="busy">
          The secret is not shown again. Save it now in the settings of your receiver, which verifies each
          event with it.
          {rotated && ' Events are also signed with the previous secret for 24 hours.'}
        </Notice>
        <Copyable text={secret} what="the secret" />
        <div>
          <Button variant="primary" onClick={onKept}>
            I have saved the secret
          </Button>
        </div>
      </div>
    </Section>
  );
}
