import { archiveVariables, indented, jobScript, type ForWorkflow } from './job-scripts.ts'
import { variablesOf } from './model-for-ci.ts'

/** A pipeline for Jenkins with the task as its parameter. */
export function jenkinsPipeline(made: ForWorkflow): string {
  const { variable } = made.model
  const environment = [
    ...(variable === undefined ? [] : [`${variable} = credentials('${variable}')`]),
    ...[...variablesOf(made.model), ...archiveVariables(made, () => undefined)].map(
      ([each, value]) => `${each} = ${quoted(value)}`,
    ),
  ]
  return `// Runs a task. Nothing is pushed: the change is a patch among the artifacts. The agents need git, bubblewrap and curl.
pipeline {
  agent any
  parameters {
    text(name: 'PROMPT', description: 'The task')
    string(name: 'VERIFY', description: 'A command that has to succeed, such as npm test')
  }
  environment {
${indented(environment, 4)}
  }
  stages {
    stage('Agent') {
      steps {
        sh '''
${indented(jobScript, 10)}
        '''
      }
    }
  }
  post {
    always {
      archiveArtifacts artifacts: 'portcullis.*', allowEmptyArchive: true
    }
  }
}
`
}

/** A text in Groovy. */
function quoted(text: string): string {
  return `'${text.replaceAll(/[\\']/g, (sign) => `\\${sign}`)}'`
}
