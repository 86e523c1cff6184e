// A value for each variable that config.example.yaml names: the key of its account, and the secrets of its channels.

export const channelSecrets = {
  ACME_API_KEY: 'sk_live_1234',
  SLACK_URL: 'https://hooks.slack.com/services/a',
  SMTP_PASSWORD: 'secret',
  PAGERDUTY_KEY: 'R0123456789abcdef0123456789abcde',
  TEAMS_URL: 'https://prod-1.westeurope.logic.azure.com/workflows/a',
  DISCORD_URL: 'https://discord.com/api/webhooks/1/a',
  TELEGRAM_TOKEN: '123456:ABC-DEF1234ghIkl',
  NTFY_TOPIC: 'acme-alerts',
  NTFY_TOKEN: 'tk_1234',
  GOOGLE_CHAT_URL: 'https://chat.googleapis.com/v1/spaces/a/messages?key=b&token=c',
  MATTERMOST_URL: 'https://mattermost.example.com/hooks/a',
  GOTIFY_TOKEN: 'A1234',
  PUSHOVER_TOKEN: 'a'.repeat(30),
  PUSHOVER_USER: 'u'.repeat(30),
  OPSGENIE_KEY: 'a-b',
  MATRIX_TOKEN: 'syt_1234',
  HOOK_SECRET: `whsec_${Buffer.alloc(32, 7).toString('base64')}`,
  RECIPE_KEY: 'sk_live_5678',
};
