import { useRecentActivity } from '../../../api/activity.ts';
import { ButtonLink } from '../../../components/button.tsx';
import { Loaded } from '../../../components/loaded.tsx';
import { Empty, Section } from '../../../components/page.tsx';
import { Time } from '../../../components/time.tsx';
import { sentenceOf } from '../activity-sentence.ts';
import styles from './home.module.css';

/** The newest entries of an account's activity. */
export function RecentActivity({ accountId }: { accountId: string }) {
  const activity = useRecentActivity(accountId);
  return (
    <Section
      title="Recent activity"
      actions={
        <ButtonLink small href={`/accounts/${accountId}/activity`}>
          All activity
        </ButtonLink>
      }
    >
      <Loaded query={activity} what="activity">
        {({ results }) =>
          results.length === 0 ? (
            <Empty>No activity yet. Changes to this account will appear here.</Empty>
          ) : (
            <ul className={styles.entries}>
              {results.map((entry) => (
                <li key={entry.id}>
                  <span>{sentenceOf(entry)}</span>
                  <span className={styles.soft}>
                    <Time at={entry.at} />
                  </span>
                </li>
              ))}
            </ul>
          )
        }
      </Loaded>
    </Section>
  );
}
