/** The names of the environment variables that this package reads. */
export const environmentVariables = {
  apiKey: 'SNIPPETS_API_KEY',
  apiKeyFile: 'SNIPPETS_API_KEY_FILE',
  renderBaseUrl: 'SNIPPETS_RENDER_BASE_URL',
  retrieveBaseUrl: 'SNIPPETS_RETRIEVE_BASE_URL',
  caFile: 'SNIPPETS_CA_FILE',
  webhookSecret: 'SNIPPETS_WEBHOOK_SECRET',
} as const;
