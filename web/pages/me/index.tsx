export { ApiAccessPage } from './api-access/api-access-page.tsx';
export { ConfirmEmailPage } from './confirm-email-page.tsx';
export { ProfilePage } from './profile-page.tsx';
export { ForcedEnrolmentPage } from './security/forced-enrolment-page.tsx';
export { SecurityPage } from './security/security-page.tsx';
export { SshKeysPage } from './ssh-keys/ssh-keys-page.tsx';
