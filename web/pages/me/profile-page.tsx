import { useQueryClient } from '@tanstack/react-query';
import { portal } from '../../api/client.ts';
import { unwrap } from '../../api/failure.ts';
import { SESSION_KEY } from '../../api/query-keys.ts';
import { TextField } from '../../components/fields.tsx';
import { Form } from '../../components/form.tsx';
import { Page, Section } from '../../components/page.tsx';
import { showSuccess } from '../../components/toast.tsx';
import { useDraft } from '../../components/use-draft.ts';
import { useSession } from '../../session/session.ts';
import { EmailSection } from './email-section.tsx';

/** The profile that users edit themselves. */
interface Profile {
  first_name: string;
  last_name: string;
  phone: string | null;
}

const profileFields = ({ first_name, last_name, phone }: Profile) => ({
  first_name,
  last_name,
  phone: phone ?? '',
});

export function ProfilePage() {
  const { user } = useSession();
  const queries = useQueryClient();

  const draft = useDraft<Profile, ReturnType<typeof profileFields>>({
    resource: user,
    fieldsOf: profileFields,
    read: () => portal.GET('/portal/api/profile'),
    async save({ phone, ...names }, header) {
      const body = { ...names, ...(phone === undefined ? {} : { phone: phone.trim() || null }) };
      await unwrap(portal.PATCH('/portal/api/profile', { params: { header }, body }));
      await queries.invalidateQueries({ queryKey: SESSION_KEY });
      showSuccess('Saved your profile.');
    },
  });

  return (
    <Page title="Profile" subtitle="Other people in your accounts see this information.">
      <Section title="Personal details">
        <Form draft={draft} submitLabel="Save">
          <TextField
            label="First name"
            autoComplete="given-name"
            {...draft.field('first_name')}
            maxLength={100}
            required
          />
          <TextField
            label="Last name"
            autoComplete="family-name"
            {...draft.field('last_name')}
            maxLength={100}
            required
          />
          <TextField
            label="Phone number"
            type="tel"
            autoComplete="tel"
            {...draft.field('phone')}
            maxLength={40}
            hint="Optional."
          />
        </Form>
      </Section>
      <EmailSection />
    </Page>
  );
}
