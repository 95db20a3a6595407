import CheckCircleIcon from '@heroicons/react/24/outline/CheckCircleIcon';
import { useState } from 'react';
import { useOnboarding } from '../../../api/overview.ts';
import { Button, ButtonLink } from '../../../components/button.tsx';
import { Section } from '../../../components/page.tsx';
import styles from './home.module.css';
import { onboardingSteps, type Step } from './onboarding-steps.ts';

const keyOf = (accountId: string) => `homeport-onboarding-${accountId}`;

/** Whether the user has hidden the first steps of an account in this browser. */
export const areStepsHidden = (accountId: string) => localStorage.getItem(keyOf(accountId)) !== null;

/** The first steps in a new account. Empty once all are done, or after the user has hidden them in this browser. */
export function OnboardingChecklist({ accountId }: { accountId: string }) {
  const [isHidden, setIsHidden] = useState(() => areStepsHidden(accountId));
  const { data } = useOnboarding(accountId, !isHidden);
  if (isHidden || data === undefined) return null;
  const steps = onboardingSteps(data);
  const done = steps.filter(({ isDone }) => isDone).length;
  if (done === steps.length) return null;

  function hide(): void {
    localStorage.setItem(keyOf(accountId), 'hidden');
    setIsHidden(true);
  }

  return (
    <Section
      title="First steps"
      actions={
        <Button small variant="quiet" onClick={hide}>
          Hide first steps
        </Button>
      }
    >
      <p>
        {done} of {steps.length} done
      </p>
      <ol className={styles.steps}>
        {steps.map((step) => (
          <StepItem key={step.id} step={step} accountId={accountId} />
        ))}
      </ol>
    </Section>
  );
}

function StepItem({
  step: { title, words, isDone, place, action },
  accountId,
}: {
  step: Step;
  accountId: string;
}) {
  return (
    <li className={styles.step} data-done={isDone || undefined}>
      {isDone ? <CheckCircleIcon /> : <span className={styles.open} />}
      <span className={styles.words}>
        <strong>
          {title}
          {isDone && <span className="visually-hidden"> (done)</span>}
        </strong>
        {!isDone && <span className={styles.soft}>{words}</span>}
      </span>
      {!isDone && action !== null && (
        <ButtonLink small href={`/accounts/${accountId}/${place}`}>
          {action}
        </ButtonLink>
      )}
    </li>
  );
}
